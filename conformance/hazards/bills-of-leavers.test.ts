import { expect, test } from "bun:test";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sleep } from "../support/scripted-upstream.ts";

const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
const { upstream, gateway } = await scriptedHarness((url) => {
  const { models, providers } = scriptedModels(url) as { models: object[]; providers: object };
  const offers = [
    { provider: "up-chat", model: "upstream-model", pricings: { prompt: price(3), completion: price(4) } },
  ];
  return {
    config: {
      providers,
      models: [...models, { id: "test/priced-offer", context_length: 1000, pricings: {}, offers }],
      keys: [{ name: "tests", key: TEST_KEY }],
    },
    timings: { commitDeadlineMs: 100, keepAliveMs: 50, readOnMs: 100 },
  };
});

const question = { messages: [{ role: "user", content: "word ".repeat(4_000) }] };

/** Asks an upstream that never answers, and leaves after some time. */
async function leave(model: string, stream: boolean, afterMs: number): Promise<void> {
  upstream.play(() => {});
  const leaving = new AbortController();
  setTimeout(() => leaving.abort(), afterMs);
  const options = { model, stream, body: question, signal: leaving.signal };
  await callGateway(gateway.url, "chat", TEST_KEY, options)
    .then((response) => response.text())
    .catch(() => "left");
}

/** What the operator sees of the model's calls. */
async function billed(model: string): Promise<{ calls: number; cost: number }> {
  const response = await fetch(`${gateway.adminUrl}/api/usage?by=model`, {
    headers: { authorization: `Bearer ${gateway.adminSecret}` },
  });
  const { data } = (await response.json()) as { data: { group: string; calls: number; costNanoUsd: number }[] };
  const found = data.find(({ group }) => group === model);
  return { calls: found?.calls ?? 0, cost: found?.costNanoUsd ?? 0 };
}

test.each([
  ["before anything was sent", false, 60],
  ["after the early commit", true, 400],
] as const)(
  "H14, decision 0006: a client that leaves %s pays for its prompt, as the offer has it",
  async (_, stream, ms) => {
    for (const [model, nanoUsdPerToken] of [
      ["test/chat", 1_000],
      ["test/priced-offer", 3_000],
    ] as const) {
      const before = await billed(model);
      await leave(model, stream, ms);
      let after = await billed(model);
      for (; after.calls === before.calls; after = await billed(model)) await sleep(20);
      expect(after.calls - before.calls).toBe(1);
      const tokens = (after.cost - before.cost) / nanoUsdPerToken;
      expect(tokens).toBeGreaterThan(4_900);
      // And a little for what may have been generated meanwhile (decision 0017).
      expect(tokens).toBeLessThan(5_400);
    }
  },
);
