import { expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";
import { scriptedModels } from "../../../testing/scripted-models.ts";
import { wrapOpaque } from "../../canon/opaque.ts";

test("decision 0018: terms are billed where a foreign signature has the request written anew", async () => {
  const harness = await Harness.start({ config: scriptedModels(UPSTREAM_URL) });
  harness.upstream.play((reply) => {
    reply.head(200);
    void reply.write(JSON.stringify(plainAnswer("messages", { text: "So.", usage: plainUsage("messages", 10, 5) })));
    reply.end();
  });
  const signature = wrapOpaque({ origin: "genai", kind: "signature", value: "g1" });
  const thought = { type: "thinking", thinking: "Hm.", signature };
  const messages = [
    { role: "user", content: "Three times four?" },
    { role: "assistant", content: [thought, { type: "text", text: "Twelve." }] },
    { role: "user", content: "Why?" },
  ];
  const answer = await harness.call("messages", {
    model: "test/messages",
    door: "dropin",
    body: { messages, speed: "fast", inference_geo: "us" },
  });
  expect(answer.status).toBe(200);
  const sent = JSON.parse(harness.upstream.requests[0]?.body ?? "{}") as Record<string, unknown>;
  expect(sent).toMatchObject({ speed: "fast", inference_geo: "us" });
  const [receipt] = await harness.receipts();
  expect(receipt).toMatchObject({ lane: "translated", unpriced: ["fast"] });
  expect(receipt?.price_rule).toEndWith("fast unpriced, × 1.1 geo-us");
});
