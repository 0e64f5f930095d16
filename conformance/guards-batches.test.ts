import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type BatchVendor, PlayedBatchHost } from "../testing/hosts/batch-host.ts";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { BatchClients, LIST_NANO_USD, nativeModels } from "./support/native-batches.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const MAIL = "alice.b@example.com";
const DIALECTS = { openai: "chat", anthropic: "messages", gemini: "genai" } as const;

/** What the host has received, line by line. */
const received: string[] = [];
let host: PlayedBatchHost;
beforeAll(async () => {
  const answer = (body: Record<string, unknown>, vendor: BatchVendor) => {
    received.push(JSON.stringify(body));
    const usage = plainUsage(DIALECTS[vendor], 1000, 500);
    return { body: plainAnswer(DIALECTS[vendor], { text: `heard ${MAIL}`, usage }) };
  };
  host = await new PlayedBatchHost(answer).start();
});
afterAll(() => host.stop());

async function receiptsOf({ adminUrl, adminSecret }: TestGateway) {
  const headers = { authorization: `Bearer ${adminSecret}` };
  const answer = await fetch(`${adminUrl}/api/receipts?limit=100`, { headers });
  const { data } = (await answer.json()) as {
    data: { cost_nano_usd: number; outcome: string; guards: { name: string; on: string; verdict: string }[] }[];
  };
  return data;
}

const forms = ["chat", "messages", "genai"] as const;
const lines = (model: string) => [
  { id: "a", model, content: `write to ${MAIL}` },
  { id: "b", model, content: "say the forbidden word" },
];

describe("decision 0123: lines of batches are checked like calls", () => {
  test.each(forms.flatMap((form) => (["own", "native"] as const).map((mode) => [form, mode] as const)))(
    "%s, mode %s",
    async (form, mode) => {
      host.reset();
      received.length = 0;
      const guards = [
        { name: "words", use: "words", words: ["forbidden"], action: "block", on: ["request"] },
        { name: "people", use: "pii", action: "redact" },
      ];
      const keys = [{ name: "tests", key: TEST_KEY }];
      const gateway = await startTestGateway({ config: { ...nativeModels(host.url), batch: { mode }, guards, keys } });
      try {
        const outcome = await new BatchClients(gateway, TEST_KEY).run(form, lines(`test/${form}`));
        expect(outcome.lines.map(({ id, ok }) => [id, ok])).toEqual([
          ["a", true],
          ["b", false],
        ]);
        expect(outcome.lines[0]?.text).toContain("heard [redacted:email]");
        expect(outcome.lines[1]?.text).toContain('The guard \\"words\\" blocked this request');
        expect(JSON.stringify(outcome)).not.toContain("alice");
        expect(received).toHaveLength(1);
        expect(received[0]).toContain("write to [redacted:email]");
        const receipts = await receiptsOf(gateway);
        const blocked = receipts.filter(({ outcome: of }) => of === "content_blocked");
        expect(blocked.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([0]);
        const [billed] = receipts.filter(({ outcome: of }) => of === "ok");
        expect(billed?.cost_nano_usd).toBe(mode === "own" ? LIST_NANO_USD : LIST_NANO_USD / 2);
        expect(billed?.guards.map(({ name, on, verdict }) => `${name} ${on} ${verdict}`)).toEqual([
          `words request ${mode === "own" ? "passed" : "not_run"}`,
          `people request ${mode === "own" ? "redacted" : "not_run"}`,
          "people response redacted",
        ]);
      } finally {
        await gateway.stop();
      }
    },
    30_000,
  );
});
