import { describe, expect, test } from "bun:test";
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

  test("S18: deep nesting is read without recursion", () => {
    const depth = 100_000;
    const document = new JsonDocument(`${"[".repeat(depth)}"x"${"]".repeat(depth)}`);
    expect(document.texts.map(({ value }) => value)).toEqual(["x"]);
  });
});
