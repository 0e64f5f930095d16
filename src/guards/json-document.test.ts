import { describe, expect, test } from "bun:test";
import { checkJson } from "./answer-check.ts";
import { makeGuard } from "./guard.ts";
import { GuardTally } from "./guard-tally.ts";
import { JsonDocument } from "./json-document.ts";

const textsOf = (json: string) => new JsonDocument(json).texts.map(({ path, kind, value }) => [path, kind, value]);

describe("decision 0123: the texts of a JSON body", () => {
  test("have paths, and are decoded; words of the protocol are recognised", () => {
    expect(
      textsOf(
        '{"model":"m","messages":[{"role":"user","content":"a\\u0040b","name":"Al"},{"content":[{"text":"x\\ny"}]}]}',
      ),
    ).toEqual([
      ["model", "structure", "m"],
      ["messages[0].role", "structure", "user"],
      ["messages[0].content", "text", "a@b"],
      ["messages[0].name", "name", "Al"],
      ["messages[1].content[0].text", "text", "x\ny"],
    ]);
  });

  test("include JSON in texts, long numbers, and keys that are not names of fields", () => {
    expect(textsOf('{"arguments":"{\\"a@b.org\\":4111111111111111,\\"type\\":\\"x\\"}","seed":12}')).toEqual([
      ["arguments.a@b.org", "key", "a@b.org"],
      ["arguments.a@b.org", "number", "4111111111111111"],
      ["arguments.type", "text", "x"],
    ]);
  });

  test("do not include media and sealed values, but texts of the same names", () => {
    const sealed = "A".repeat(400);
    expect(
      textsOf(`{"signature":"${sealed}","data":"${sealed}","image_url":"data:image/png;base64,${sealed}"}`),
    ).toEqual([]);
    expect(textsOf('{"data":"plain text","signature":"short"}').map(([path]) => path)).toEqual(["data", "signature"]);
  });

  test("H05: unchanged texts keep their bytes", () => {
    const json = '{ "b":1.50, "a":"\\u0068i", "c":{"1":null,"2":"x"}}';
    const document = new JsonDocument(json);
    expect(document.write()).toBe(json);
    const text = document.at("c.2");
    if (text !== undefined) text.value = 'say "y"';
    expect(document.write()).toBe('{ "b":1.50, "a":"\\u0068i", "c":{"1":null,"2":"say \\"y\\""}}');
  });

  test("S15: keys that are replaced by the same name stay different", () => {
    const document = new JsonDocument('{"input":{"a@b.org":1,"c@d.org":2}}');
    for (const text of document.texts) text.value = "redacted_email";
    expect(document.write()).toBe('{"input":{"redacted_email":1,"redacted_email_2":2}}');
  });

  test("log probabilities are removed, but not an argument of that name", () => {
    const json = '{"choices":[{"logprobs":{"content":[{"token":"x"}]}}],"input":{"logprobs":{"a":"b"}},"logprobs":[1]}';
    const document = new JsonDocument(json, { dropsTokens: true });
    expect(document.hasDroppedTokens).toBe(true);
    expect(document.write()).toBe('{"choices":[{"logprobs":null}],"input":{"logprobs":{"a":"b"}},"logprobs":[]}');
  });

  test("S25: a long text is read in several turns, one in its strings too", async () => {
    const inner = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => `text ${index}`));
    for (const json of [inner, JSON.stringify({ arguments: inner })]) {
      let turns = 0;
      let isDone = false;
      const turn = () => {
        turns++;
        if (!isDone) setImmediate(turn);
      };
      setImmediate(turn);
      const document = await JsonDocument.read(json);
      isDone = true;
      expect(turns).toBeGreaterThanOrEqual(Math.floor(json.length / (64 * 1024)) - 1);
      expect(document.texts.map(({ path, value }) => [path, value])).toEqual(
        new JsonDocument(json).texts.map(({ path, value }) => [path, value]),
      );
      expect(document.texts.length).toBe(20_000);
    }
  });

  test("S18: deep nesting is read without recursion", () => {
    const depth = 100_000;
    const document = new JsonDocument(`${"[".repeat(depth)}"x"${"]".repeat(depth)}`);
    expect(document.texts.map(({ value }) => value)).toEqual(["x"]);
  });
});

const WORDS = makeGuard(
  {
    name: "guard",
    on: ["request"],
    use: "words",
    words: ["bluebird", "project heron", "night_owl"],
    action: "redact",
    onFailure: "block",
    timeoutMs: 1000,
    window: 200,
  },
  () => () => Promise.reject(new Error("nothing is asked")),
);

async function redacted(body: object): Promise<unknown> {
  const context = { tally: new GuardTally("request", ["guard"], ""), nowMs: () => 0, asker: undefined };
  return JSON.parse((await checkJson([WORDS], JSON.stringify(body), context)).write());
}

const base64 = (text: string | Buffer, encoding: "base64" | "base64url" = "base64") =>
  Buffer.from(text).toString(encoding);

describe("S28: a text is read wherever a model may read it", () => {
  test.each([
    ["a data URL", (text: string) => `data:text/plain;base64,${base64(text)}`],
    ["a data URL in capitals, with parameters", (text: string) => `DATA:Text/CSV;charset=utf-8;BASE64,${base64(text)}`],
    ["a data URL of another type", (text: string) => `data:application/octet-stream;base64,${base64(text)}`],
    ["a data URL of an image that is text", (text: string) => `data:image/svg+xml;base64,${base64(text)}`],
    ["a data URL without base64", (text: string) => `data:,${encodeURIComponent(text)}`],
    ["base64 alone", (text: string) => base64(text)],
    ["base64 for URLs", (text: string) => base64(`${text}>>>???`, "base64url")],
    ["base64 with a byte that is not UTF-8", (text: string) => base64(Buffer.from(`${text}\u00ff`, "latin1"))],
  ])("%s", async (_name, write) => {
    for (const member of ["data", "file_data", "url", "text", "a_new_member"])
      for (const more of ["", " and so on".repeat(100)]) {
        const before = { messages: [{ content: [{ [member]: write(`Tell bluebird that${more}`) }] }] };
        const after = { messages: [{ content: [{ [member]: write(`Tell [redacted:word] that${more}`) }] }] };
        expect(await redacted(before)).toEqual(after);
        const plain = { messages: [{ content: [{ [member]: write(`Tell nobody that${more}`) }] }] };
        expect(await redacted(plain)).toEqual(plain);
      }
  });

  test("media and sealed values are left alone", async () => {
    const noise = Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919 + (at >> 3) * 104_729) % 256));
    const body = {
      input: [
        { data: base64(noise), image_url: `data:image/png;base64,${base64(noise)}`, id: base64("bluebird is an id") },
      ],
    };
    expect(new JsonDocument(JSON.stringify(body)).texts.map(({ kind }) => kind)).toEqual(["structure"]);
    expect(await redacted(body)).toEqual(body);
  });

  test("names and keys, with what separates their words", async () => {
    const tool = (word: string, phrase: string) => ({
      name: `find_${word}`,
      parameters: {
        type: "object",
        properties: { [word]: { type: "string", format: word }, [phrase]: { enum: [`a ${word}`] } },
        required: [word],
      },
    });
    const after = tool("redacted_word", "redacted_word_2");
    after.parameters.properties = {
      redacted_word: { type: "string", format: "[redacted:word]" },
      redacted_word_2: { enum: ["a [redacted:word]"] },
    };
    expect(await redacted({ tools: [{ type: "function", function: tool("bluebird", "project_heron") }] })).toEqual({
      tools: [{ type: "function", function: after }],
    });
  });

  test("a name that is written as in the list", async () => {
    expect(await redacted({ tools: [{ name: "night_owl" }] })).toEqual({ tools: [{ name: "redacted_word" }] });
  });

  test("members of the protocol, if their value is none of its words", async () => {
    expect(await redacted({ type: "message", category: "Tell bluebird.", model: "bluebird" })).toEqual({
      type: "message",
      category: "Tell [redacted:word].",
      model: "bluebird",
    });
  });
});
