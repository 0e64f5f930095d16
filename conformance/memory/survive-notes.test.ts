import { beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { continuingHost, streamText } from "../support/continuing-host.ts";

const WHOLE = "The Seine rises in Burgundy, passes through Paris and reaches the Channel at Le Havre.";
const HOSTS: readonly ScriptedDialect[] = ["messages", "genai", "chat"];

let harness: Harness;
beforeAll(async () => {
  const scripted = scriptedModels(UPSTREAM_URL);
  const [model] = scripted["models"] as object[];
  const offer = (dialect: ScriptedDialect) => ({ provider: `up-${dialect}`, model: `${dialect}-model`, prefill: true });
  const both = (first: ScriptedDialect, second: ScriptedDialect) => ({
    ...model,
    id: `test/${first}-${second}`,
    offers: [offer(first), offer(second)],
  });
  harness = await Harness.start({
    config: {
      ...scripted,
      routing: { survive: true, sticky: "off", breaker: { failures: 100_000, window_ms: 1 } },
      models: [
        ...HOSTS.map((host) => ({ ...model, id: `test/${host}`, offers: [offer(host)] })),
        both("messages", "genai"),
        both("genai", "messages"),
        both("chat", "messages"),
      ],
    },
  });
});

/** Settings that both hosts honour in part, each in its own way. */
const BODY = {
  temperature: 1.7,
  seed: 7,
  logit_bias: { "50256": -100 },
  parallel_tool_calls: false,
  tools: [{ type: "function", function: { name: "f", strict: true, parameters: { type: "object", properties: {} } } }],
};

const hostOf = (url: string): ScriptedDialect =>
  url.includes("/messages") ? "messages" : url.includes("/completions") ? "chat" : "genai";

/** What the receipt notes of a call. The host `broken` cuts its stream off. */
async function notesOf(
  model: string,
  broken?: ScriptedDialect,
  { client, body }: { client: ScriptedDialect; body: JsonObject } = { client: "chat", body: BODY },
) {
  harness.upstream.play(async (reply, request) => {
    const host = hostOf(request.url);
    if (host !== broken) return continuingHost(host, WHOLE, "honest")(reply, request);
    reply.head(200, { "content-type": "text/event-stream" });
    await reply.write(streamText(host, WHOLE).slice(0, 700));
    reply.fail("broken");
  });
  const answer = await harness.call(client, { door: "dropin", stream: true, model, body });
  const receipt = await harness.receipt(answer);
  return { receipt, notes: receipt.fields.map(({ path, action, reason }) => `${path} ${action}: ${reason}`) };
}

test.each([
  ["messages", "genai"],
  ["genai", "messages"],
] as const)("H09: a stream of %s that continues at %s has the notes of both in its receipt", async (first, second) => {
  const alone = [await notesOf(`test/${first}`), await notesOf(`test/${second}`)];
  const { receipt, notes } = await notesOf(`test/${first}-${second}`, first);
  expect(receipt.continued).toHaveLength(1);
  expect(new Set(notes)).toEqual(new Set(alone.flatMap(({ notes: own }) => own)));
});

test("decision 0083: a hosted tool sent only to the second host is marked as unpriced", async () => {
  const body = { max_tokens: 1000, tools: [{ type: "divination_20270101", name: "divination" }] };
  const asked = { client: "messages", body } as const;
  const { receipt, notes } = await notesOf("test/chat-messages", "chat", asked);
  expect(receipt.continued).toHaveLength(1);
  expect(notes.filter((note) => note.startsWith("tools[0]"))).toHaveLength(1);
  expect(receipt.unpriced).toEqual((await notesOf("test/messages", undefined, asked)).receipt.unpriced);
  expect(receipt.unpriced).not.toEqual([]);
});
