import { beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

/** Finding C1: what a model said of its reasoning goes back to whoever made it, and the receipt notes it once elsewhere. */

let harness: Harness;
beforeAll(async () => {
  const config = modelsOfEveryDialect(UPSTREAM_URL);
  const [plain] = config["models"] as object[];
  harness = await Harness.start({
    config: {
      ...config,
      providers: {
        ...(config["providers"] as object),
        "up-minimax": { kind: "minimax", base_url: `${UPSTREAM_URL}/v1`, api_key: "k" },
      },
      models: [
        ...(config["models"] as object[]),
        { ...plain, id: "test/minimax", offers: [{ provider: "up-minimax", model: "upstream-model" }] },
      ],
    },
  });
});

const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

/** Details as aggregating hosts write them, by the creator of their values. */
const DETAILS = {
  messages: [{ type: "reasoning.text", text: "I think", signature: "c2ln", format: "anthropic-claude-v1", index: 0 }],
  responses: [
    { type: "reasoning.summary", summary: "I think", format: "openai-responses-v1", index: 0, id: "rs_1" },
    { type: "reasoning.encrypted", data: "c2ln", format: "openai-responses-v1", index: 0, id: "rs_1" },
  ],
  genai: [
    { type: "reasoning.text", text: "I think", format: "google-gemini-v1", index: 0 },
    { type: "reasoning.encrypted", data: "c2ln", format: "google-gemini-v1", index: 1, id: "call_1" },
  ],
};

async function askWith(details: object[], host: ScriptedDialect | "minimax") {
  const { upstream } = harness;
  const dialect = host === "minimax" ? "chat" : host;
  upstream.play(upstream.json(plainAnswer(dialect, { text: "ok", usage: plainUsage(dialect, 1, 1) })));
  const messages = [
    { role: "user", content: "hi" },
    { role: "assistant", content: "x", reasoning: "I think", reasoning_details: details, tool_calls: [CALL] },
    { role: "tool", tool_call_id: "call_1", content: "r" },
  ];
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const answer = await harness.call("chat", { model: `test/${host}`, body: { messages, tools } });
  expect(answer.status).toBe(200);
  const dropped = answer.headers.get("x-trivium-dropped")?.split(",") ?? [];
  return { sent: upstream.requests.at(-1)?.body ?? "", dropped };
}

const HOSTS = ["chat", "messages", "genai", "responses"] as const;

describe.each(["messages", "responses", "genai"] as const)(
  "reasoning of %s, as an aggregating host wrote it",
  (maker) => {
    test.each(HOSTS)("at a host of %s", async (host) => {
      const { sent, dropped } = await askWith(DETAILS[maker], host);
      expect(sent.includes("c2ln")).toBe(host === maker);
      expect(dropped).toEqual([...new Set(dropped)]);
      // A thought without a signature goes nowhere but to hosts that read plain reasoning.
      if (maker === "messages" && host === maker) expect(dropped).toEqual([]);
      if (host !== maker) expect(dropped.join()).toContain("messages[1].reasoning_details");
    });
  },
);

test("MiniMax gets its details back, and no other field of reasoning", async () => {
  const details = [
    { type: "reasoning.text", text: "First.", format: "MiniMax-response-v1", index: 0 },
    { type: "reasoning.text", text: "Second.", format: "MiniMax-response-v1", index: 1 },
  ];
  const { sent, dropped } = await askWith(details, "minimax");
  const [, assistant] = (JSON.parse(sent) as { messages: object[] }).messages;
  expect(assistant).toEqual({
    role: "assistant",
    content: "x",
    reasoning_details: [
      { type: "reasoning.text", text: "First.", index: 0 },
      { type: "reasoning.text", text: "Second.", index: 1 },
    ],
    tool_calls: [CALL],
  });
  expect(dropped).toEqual([]);
});
