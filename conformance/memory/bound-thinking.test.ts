import { expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

const FABLE = "anthropic/claude-fable-5-2";
const MAIL = "alice.b@example.com";

function start(model = FABLE) {
  const config = modelsOfEveryDialect(UPSTREAM_URL);
  const models = [
    ...(config["models"] as object[]),
    { id: model, offers: [{ provider: "up-messages", model: "upstream" }] },
  ];
  return Harness.start({ config: { ...config, models, guards: [{ name: "people", use: "pii", action: "redact" }] } });
}

/** A conversation whose second turn was signed, in the client's protocol. */
const HISTORY: Partial<Record<DialectName, (first: string) => Record<string, unknown>>> = {
  messages: (first) => ({
    messages: [
      { role: "user", content: first },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "c2ln" },
          { type: "text", text: "Hello." },
        ],
      },
      { role: "user", content: "Go on." },
    ],
  }),
  chat: (first) => ({
    messages: [
      { role: "user", content: first },
      {
        role: "assistant",
        content: "Hello.",
        reasoning_details: [{ type: "reasoning.text", text: "Hm.", signature: "c2ln", format: "messages", index: 0 }],
      },
      { role: "user", content: "Go on." },
    ],
  }),
};

async function sent(client: "messages" | "chat", first: string, more: object = {}, model = FABLE) {
  const harness = await start(model);
  const { upstream } = harness;
  upstream.play(upstream.json(plainAnswer("messages", { text: "ok", usage: plainUsage("messages", 1, 1) })));
  const headers = client === "messages" ? { "anthropic-beta": "some-beta-2026-01-01" } : {};
  const body = { ...HISTORY[client]?.(first), ...more };
  const answer = await harness.call(client, { door: "dropin", model, body, headers });
  expect(answer.status).toBe(200);
  const [request] = upstream.requests;
  const { thinking, messages } = JSON.parse(request?.body ?? "{}") as { thinking?: object; messages: object[] };
  expect(JSON.stringify(messages)).toContain("c2ln");
  const { fields } = await harness.receipt(answer);
  return { thinking, betas: request?.headers["anthropic-beta"] ?? "", notes: fields.map(({ path }) => path) };
}

test.each(["messages", "chat"] as const)(
  "H72: a guard that changes the conversation of a %s client lets the model drop thinking that is bound to it",
  async (client) => {
    const { thinking, betas, notes } = await sent(client, `I am ${MAIL}.`);
    expect(thinking).toMatchObject({ block_binding: { prefix_mismatch_behavior: "drop_block" } });
    expect(betas).toContain("thinking-binding-controls-2026-08-01");
    expect(betas.includes("some-beta-2026-01-01")).toBe(client === "messages");
    expect(notes).toContain("thinking");
  },
);

test.each(["messages", "chat"] as const)(
  "H72: a conversation that a %s client itself keeps is sent as it is",
  async (client) => {
    const { thinking = {}, betas } = await sent(client, "I am nobody.");
    expect(thinking).not.toHaveProperty("block_binding");
    expect(betas).not.toContain("thinking-binding");
  },
);

test("H72: the client's own choice is kept, and other models get nothing", async () => {
  const own = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } };
  expect((await sent("messages", `I am ${MAIL}.`, { thinking: own })).thinking).toEqual(own);
  const { thinking = {} } = await sent("messages", `I am ${MAIL}.`, {}, "anthropic/claude-opus-5-5");
  expect(thinking).not.toHaveProperty("block_binding");
});
