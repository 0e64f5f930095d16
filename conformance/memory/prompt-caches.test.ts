import { beforeAll, describe, expect, test } from "bun:test";
import { arrayAt, type JsonObject } from "../../src/base/json.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

/** H54: a translated call keeps the prompt cache that the same call would have natively. */

let harness: Harness;
beforeAll(async () => {
  const { models, ...config } = modelsOfEveryDialect(UPSTREAM_URL) as { models: object[] };
  const priced = models.map((model) => ({ ...model, price_multiples: { priority: 2 } }));
  harness = await Harness.start({ config: { ...config, models: priced } });
});

/** What goes up for a call, and its receipt. */
async function sent(client: ScriptedDialect, upstream: ScriptedDialect, options: CallOptions, answer: object = {}) {
  const usage = plainUsage(upstream, 1000, 500);
  harness.upstream.play(harness.upstream.json({ ...plainAnswer(upstream, { text: "Yes.", usage }), ...answer }));
  const read = await harness.call(client, { door: "dropin", model: `test/${upstream}`, ...options });
  if (read.status !== 200) throw new Error(`${read.status}: ${read.text}`);
  const receipt = await harness.receipt(read);
  const [request] = harness.upstream.requests;
  return { body: JSON.parse(request?.body ?? "{}") as JsonObject, text: request?.body ?? "", receipt };
}

describe("the two dialects of one host agree on caching, tiers and end users", () => {
  const FIELDS = {
    prompt_cache_key: "session-7",
    prompt_cache_retention: "24h",
    service_tier: "priority",
    safety_identifier: "user-9",
  };

  test.each([
    ["chat", "responses"],
    ["responses", "chat"],
  ] as const)("H54: %s to %s", async (client, upstream) => {
    const { body, receipt } = await sent(client, upstream, { body: FIELDS }, { service_tier: "priority" });
    expect(body).toMatchObject(FIELDS);
    expect(receipt.fields).toEqual([]);
    // 1,000 tokens at $1 a million and 500 at $2, twice that for the tier.
    expect(receipt.cost_nano_usd).toBe(2 * (1000 * 1000 + 500 * 2000));
    expect(receipt.price_rule).toContain("priority");
  });

  test("decision 0092: the tier that served the call is billed", async () => {
    const { receipt } = await sent("chat", "responses", { body: FIELDS }, { service_tier: "default" });
    expect(receipt.cost_nano_usd).toBe(1000 * 1000 + 500 * 2000);
  });

  test("metadata is sent to Responses; the gateway stores that of a Responses client", async () => {
    const metadata = { ticket: "A-17" };
    expect((await sent("chat", "responses", { body: { metadata } })).body["metadata"]).toEqual(metadata);
    const { body, receipt } = await sent("responses", "chat", { body: { metadata } });
    // Hosts refuse metadata in chat completions that they do not store.
    expect([body["metadata"], body["store"], receipt.fields]).toEqual([undefined, undefined, []]);
  });

  test("a host of another family gets none of them, and the receipt says so", async () => {
    const { text, receipt } = await sent("chat", "messages", { body: FIELDS });
    expect(text).not.toContain("session-7");
    expect(receipt.fields.map(({ path }) => path)).toEqual([
      "prompt_cache_key",
      "prompt_cache_retention",
      "service_tier",
    ]);
  });
});

/** The turns of a session with tools, in each protocol; a request has the first of them. */
const TURNS: Readonly<Record<ScriptedDialect, readonly JsonObject[]>> = {
  chat: [
    { role: "user", content: "List the files." },
    {
      role: "assistant",
      content: "Let me look.",
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "ls", arguments: '{"path":".","2":"b","1":"a"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: "a.txt" },
    { role: "assistant", content: "There is a.txt." },
    { role: "user", content: "And in the parent?" },
    { role: "assistant", content: "Nothing." },
    { role: "user", content: "Thanks." },
  ],
  messages: [
    { role: "user", content: "List the files." },
    {
      role: "assistant",
      content: [
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "toolu_1", name: "ls", input: { path: "." } },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "a.txt" }] }],
    },
    { role: "assistant", content: [{ type: "text", text: "There is a.txt." }] },
    { role: "user", content: "And in the parent?" },
    { role: "assistant", content: "Nothing." },
    { role: "user", content: "Thanks." },
  ],
  genai: [
    { role: "user", parts: [{ text: "List the files." }] },
    { role: "model", parts: [{ text: "Let me look." }, { functionCall: { name: "ls", args: { path: "." } } }] },
    { role: "user", parts: [{ functionResponse: { name: "ls", response: { result: "a.txt" } } }] },
    { role: "model", parts: [{ text: "There is a.txt." }] },
    { role: "user", parts: [{ text: "And in the parent?" }] },
    { role: "model", parts: [{ text: "Nothing." }] },
    { role: "user", parts: [{ text: "Thanks." }] },
  ],
  responses: [
    { role: "user", content: "List the files." },
    { type: "function_call", call_id: "call_1", name: "ls", arguments: '{"path":"."}' },
    { type: "function_call_output", call_id: "call_1", output: "a.txt" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "There is a.txt." }] },
    { role: "user", content: "And in the parent?" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Nothing." }] },
    { role: "user", content: "Thanks." },
  ],
};

const LIST: Readonly<Record<ScriptedDialect, string>> = {
  chat: "messages",
  messages: "messages",
  genai: "contents",
  responses: "input",
};

/** What precedes the turns in every request of the session. */
const BEFORE: Readonly<Record<ScriptedDialect, JsonObject>> = {
  chat: { tools: [{ type: "function", function: { name: "ls", parameters: { type: "object", properties: {} } } }] },
  messages: {
    system: [{ type: "text", text: "You are a clerk." }],
    tools: [{ name: "ls", input_schema: { type: "object", properties: {} } }],
  },
  genai: {
    systemInstruction: { parts: [{ text: "You are a clerk." }] },
    tools: [{ functionDeclarations: [{ name: "ls" }] }],
  },
  responses: {
    instructions: "You are a clerk.",
    tools: [{ type: "function", name: "ls", parameters: { type: "object", properties: {} }, strict: false }],
  },
};

const PAIRS = SCRIPTED_DIALECTS.flatMap((client) =>
  SCRIPTED_DIALECTS.filter((upstream) => upstream !== client).map((upstream) => [client, upstream] as const),
);

describe("H54: each request of a conversation begins with the bytes of the previous one", () => {
  test.each(PAIRS)("%s to %s", async (client, upstream) => {
    const lengths = [1, 3, 5, 7];
    const requests: JsonObject[] = [];
    for (const length of lengths) {
      const body = { ...BEFORE[client], [LIST[client]]: TURNS[client].slice(0, length) };
      requests.push((await sent(client, upstream, { body })).body);
    }
    const list = LIST[upstream];
    for (const [index, later] of requests.entries()) {
      const earlier = requests[index - 1];
      if (earlier === undefined) continue;
      const { [list]: turnsBefore, ...restBefore } = earlier;
      const { [list]: turns, ...rest } = later;
      expect(JSON.stringify(rest)).toBe(JSON.stringify(restBefore));
      const before = JSON.stringify(turnsBefore).slice(0, -1);
      expect(JSON.stringify(turns).slice(0, before.length)).toBe(before);
      expect(arrayAt(later, list).length).toBeGreaterThan(arrayAt(earlier, list).length);
    }
  });
});
