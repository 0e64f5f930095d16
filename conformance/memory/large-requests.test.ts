import { beforeAll, describe, expect, spyOn, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

/** Requests that are large enough to be translated without decoding their texts (decision 0134). */
const CLIENTS = ["chat", "messages", "genai", "responses"] as const;
type Client = (typeof CLIENTS)[number];
const UPSTREAMS = [...CLIENTS, "interactions"] as const;

/** The text of a file, or the output of a command: not all ASCII, with escapes of every kind and white space at its end. */
const LONG = `line 1\n\t"quoted" \\ back / é 構成 🙂 \ud83d \u2028 `.repeat(400);
const words = (start: string) => `${start} ${LONG}\n`;

const call = { name: "read", id: "call_1", args: { path: "a.ts", content: LONG } };
const BODIES: Readonly<Record<Client, (text: string) => JsonObject>> = {
  chat: (text) => ({
    messages: [
      { role: "system", content: words("system") },
      { role: "user", content: [{ type: "text", text }] },
      {
        role: "assistant",
        content: words("thinking aloud"),
        tool_calls: [
          { id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.args) } },
        ],
      },
      { role: "tool", tool_call_id: call.id, content: words("result") },
    ],
  }),
  messages: (text) => ({
    system: [{ type: "text", text: words("system"), cache_control: { type: "ephemeral" } }],
    messages: [
      { role: "user", content: text },
      {
        role: "assistant",
        content: [
          { type: "text", text: words("thinking aloud") },
          { type: "tool_use", id: call.id, name: call.name, input: call.args },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: words("result") }] },
    ],
  }),
  genai: (text) => ({
    systemInstruction: { parts: [{ text: words("system") }] },
    contents: [
      { role: "user", parts: [{ text }] },
      {
        role: "model",
        parts: [{ text: words("thinking aloud") }, { functionCall: { name: call.name, args: call.args } }],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: call.name, response: { output: words("result") } } },
          { functionResponse: { name: call.name, response: { output: words("one"), more: words("two") } } },
        ],
      },
    ],
  }),
  responses: (text) => ({
    store: false,
    instructions: words("instructions"),
    input: [
      { role: "user", content: [{ type: "input_text", text }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: words("thinking aloud") }] },
      { type: "function_call", call_id: call.id, name: call.name, arguments: JSON.stringify(call.args) },
      { type: "function_call_output", call_id: call.id, output: words("result") },
    ],
  }),
};

const PATHS: Readonly<Record<Client, (model: string) => string>> = {
  chat: () => "/api/v1/chat/completions",
  messages: () => "/api/msg/v1/messages",
  genai: (model) => `/api/genai/v1/publishers/${model.replace("/", "/models/")}:generateContent`,
  responses: () => "/api/v1/responses",
};

/** Requests for JSON: encoders search the texts for that word. */
const FORMS: Readonly<Partial<Record<Client, string>>> = {
  chat: '"response_format":{"type":"json_object"}',
  genai: '"generationConfig":{"responseMimeType":"application/json"}',
  responses: '"text":{"format":{"type":"json_object"}}',
};

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});

/** Sends the JSON text for a model whose host speaks the protocol, and returns what the host received. */
async function send(client: Client, upstream: (typeof UPSTREAMS)[number], json: string | Buffer) {
  const answer = plainAnswer(upstream, { text: "Done.", usage: plainUsage(upstream, 10, 2) });
  harness.upstream.play(harness.upstream.json(answer));
  const headers = { "content-type": "application/json", "partner-version": "2023-06-01" };
  const sent = harness.sendRaw(PATHS[client](`test/${upstream}`), json, headers);
  const { status, text } = await harness.clock.until(sent.answer);
  return { status, text, received: harness.upstream.requests[0]?.body ?? "" };
}

function jsonFor(client: Client, upstream: (typeof UPSTREAMS)[number], text: string): string {
  const head = client === "genai" ? {} : { model: `test/${upstream}` };
  const limit = client === "messages" ? { max_tokens: 100 } : {};
  // As some clients write it.
  return JSON.stringify({ ...head, ...limit, ...BODIES[client](text) }).replaceAll("é", "\\u00e9");
}

const pairs = CLIENTS.flatMap((client) =>
  UPSTREAMS.filter((upstream) => upstream !== client).map((upstream) => [client, upstream] as const),
);

describe.each(pairs)("a large request of %s for a host of %s", (client, upstream) => {
  test("reaches the host like one that is decoded as a whole", async () => {
    const json = jsonFor(client, upstream, words("user"));
    const parse = spyOn(JSON, "parse");
    const { status, received } = await send(client, upstream, json);
    const lengths = parse.mock.calls.map(([text]) => text.length);
    parse.mockRestore();
    expect(status).toBe(200);
    expect(Math.max(...lengths)).toBeLessThan(json.length / 2);
    // Texts are copied as they came.
    expect(received).toContain("\\u00e9");
    // This character has no outline.
    const whole = await send(client, upstream, jsonFor(client, upstream, words("us\x7fer")));
    expect(whole.received).not.toContain("\\u00e9");
    expect(JSON.parse(received)).toEqual(JSON.parse(whole.received.replace("\x7f", "")));
  });

  const form = FORMS[client];
  const testForm = form === undefined ? () => {} : test;
  testForm("is decoded as a whole if the response has a required form", async () => {
    const ask = (text: string) => `${jsonFor(client, upstream, words(text)).slice(0, -1)},${form}}`;
    const { status, received } = await send(client, upstream, ask("answer in json, user"));
    const whole = await send(client, upstream, ask("answer in json, us\x7fer"));
    expect(status).toBe(200);
    expect(JSON.parse(received)).toEqual(JSON.parse(whole.received.replace("\x7f", "")));
  });

  test("gets the error of one that is decoded as a whole", async () => {
    const sound = jsonFor(client, upstream, words("user"));
    const at = sound.indexOf("quoted");
    const within = (...bytes: number[]) =>
      Buffer.concat([Buffer.from(sound.slice(0, at)), Buffer.from(bytes), Buffer.from(sound.slice(at))]);
    const wrong = [
      within(0xff),
      within(0xed, 0xa0, 0x80),
      within(0x0a),
      within(...Buffer.from("\\x")),
      within(...Buffer.from("\\u00")),
      sound.replace('"role":', '"role":"user","role":'),
      sound.replace('"role":', '"role":{"a":"b"},"x":'),
      sound.slice(0, -1),
      `${sound.slice(0, -1)},"${client === "genai" ? "contents" : "tools"}":"${LONG.replaceAll(/[\n\t"\\\ud83d]/g, " ")}"}`,
      `${sound.slice(0, -1)},"deep":${"[".repeat(3000)}${"]".repeat(3000)}}`,
    ];
    for (const body of wrong) {
      const { status, text, received } = await send(client, upstream, body);
      const native = await send(
        client,
        client,
        typeof body === "string"
          ? body.replace(`test/${upstream}`, `test/${client}`)
          : Buffer.from(body.toString("latin1").replace(`test/${upstream}`, `test/${client}`), "latin1"),
      );
      expect(status).toBe(400);
      expect({ status, text: withoutId(text), received }).toEqual({ ...native, text: withoutId(native.text) });
    }
  });
});

/** Errors of one protocol repeat the id of the request. */
const withoutId = (text: string): string => text.replace(/"request_id":"[^"]*"/, "");
