import { describe, expect, test } from "bun:test";
import { NANO_USD_PER_TOKEN, ServiceGateway } from "./service-gateway.sample.ts";

const services = ServiceGateway.forTests();

const rank = (documents: readonly string[]) =>
  services.harness.clock.until(
    services.harness.sendPost("/v1/rerank", { model: "test/ranks", query: "foxes", documents }).answer,
  );
const ranking = (count: number) => ({
  results: Array.from({ length: count }, (_, index) => ({ index, relevance_score: 1 / (1 + index) })),
  usage: { total_tokens: 7 },
});

describe("H26: a ranking", () => {
  test.each([
    ["a page of HTML", "<html></html>"],
    ["an error under 200", '{"error":{"message":"no"}}'],
    ["half an answer", '{"results":[{"index":0'],
    ["no result", '{"results":[],"usage":{"total_tokens":7}}'],
  ])("in place of which comes %s is asked for again, and only what was answered is billed", async (_, text) => {
    const { upstream } = services.harness;
    const nonsense = async (reply: Parameters<ReturnType<typeof upstream.json>>[0]) => {
      reply.head(200);
      await reply.write(text);
      reply.end();
    };
    services.play(nonsense, upstream.json(ranking(2)));
    const answer = await rank(["one", "two"]);
    expect(answer.status).toBe(200);
    expect(await services.harness.receipt(answer)).toMatchObject({
      usage: { input: 7 },
      usage_source: "measured",
      cost_nano_usd: 7 * NANO_USD_PER_TOKEN,
    });
  });

  test("of other documents than were sent is a failure of the host, which it is paid for", async () => {
    const { upstream } = services.harness;
    services.play(upstream.json(ranking(3)));
    const answer = await rank(["one", "two"]);
    expect(answer.status).toBe(502);
    expect(await services.harness.receipt(answer)).toMatchObject({ usage: { input: 14 }, usage_source: "partial" });
  });
});

test("a moderation that costs nothing, of which its host says nothing, is measured: no warning is logged", async () => {
  const { harness, log } = services;
  services.play(harness.upstream.json({ id: "modr-1", model: "m", results: [{ flagged: false }] }));
  const sent = harness.sendPost("/v1/moderations", { model: "test/judge", input: "a text of some length" });
  const answer = await harness.clock.until(sent.answer);
  expect(answer.status).toBe(200);
  expect(await harness.receipt(answer)).toMatchObject({ usage_source: "measured", cost_nano_usd: 0 });
  expect(log.filter((line) => line.includes("cannot be true"))).toEqual([]);
});
