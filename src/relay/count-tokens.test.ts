import { expect, test } from "bun:test";
import { sampleCall, scriptedGateway } from "../../testing/scripted-gateway.ts";
import { UPSTREAM_CODECS } from "../dialects/index.ts";
import { TranslatedLane } from "./attempt/translated.ts";
import { relayTokenCount } from "./count-tokens.ts";

async function counted(countsTokens: boolean) {
  const sample = scriptedGateway([{ body: ['{"input_tokens":77}'] }]);
  const { gateway, clock, targets } = sample;
  const { call } = sampleCall(gateway);
  const counting = { ...call, incoming: { ...call.incoming, verb: "count_tokens" as const } };
  const plan = targets.map((target) => ({ ...target, countsTokens }));
  const response = await clock.until(relayTokenCount(counting, gateway, plan));
  return { ...sample, response, text: await response.text() };
}

test("H11: an offer that can count is called, and its count is free", async () => {
  const { network, text, receipts } = await counted(true);
  expect(network.requests).toHaveLength(1);
  expect(text).toContain("77");
  expect(receipts).toMatchObject([{ outcome: "ok", provider: "one", fields: [], usage: {}, costNanoUsd: 0 }]);
});

test("H11: if none can, the gateway estimates and notes it", async () => {
  const { network, response, receipts } = await counted(false);
  expect(network.requests).toEqual([]);
  expect(response.headers.get("x-trivium-approximated")).toBe("(count)");
  expect(receipts).toMatchObject([
    {
      outcome: "ok",
      provider: "one",
      fields: [{ path: "(count)", action: "approximated" }],
      usage: {},
      costNanoUsd: 0,
    },
  ]);
});

test("H13: a client that disconnects while a host counts ends the call: there is nothing to bill", async () => {
  const { gateway, clock, targets, network } = scriptedGateway([{ hangs: true }]);
  const { call, disconnect } = sampleCall(gateway);
  const counting = { ...call, incoming: { ...call.incoming, verb: "count_tokens" as const } };
  const plan = targets.map((target) => ({ ...target, countsTokens: true }));
  const answer = relayTokenCount(counting, gateway, plan);
  answer.catch(() => {});
  await clock.pass(1_000);
  disconnect();
  await clock.pass(0);
  expect([gateway.orphanedTexts, network.open]).toEqual([0, 0]);
});

test("H11: a count of another protocol is answered in the client's, and an answer without one is a failure", () => {
  const { gateway, targets } = scriptedGateway();
  const { call } = sampleCall(gateway);
  const [target] = targets;
  if (target === undefined) throw new Error("no target");
  const attempt = { target: { ...target, codec: UPSTREAM_CODECS.genai }, notes: [], terms: [] };
  const lane = new TranslatedLane(call, gateway, attempt);
  expect(lane.readCount("", { totalTokens: 9 }).text).toContain("9");
  expect(() => lane.readCount("", {})).toThrow("The provider returned no token count.");
});
