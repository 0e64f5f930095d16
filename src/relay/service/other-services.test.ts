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
  test("0061: its receipt has the call's tags", async () => {
    services.play(services.harness.upstream.json(ranking(2)));
    const body = { model: "test/ranks", query: "foxes", documents: ["one", "two"] };
    const sent = services.harness.sendPost("/v1/rerank", body, undefined, { "x-trivium-tags": "team-a" });
    const answer = await services.harness.clock.until(sent.answer);
    expect((await services.harness.receipt(answer)).tags).toEqual(["team-a"]);
  });

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

  test("of more documents than fit in a request: only a failed part is requested again", async () => {
    const { upstream } = services.harness;
    const documents = Array.from({ length: 1_500 }, (_, index) => `document ${index}`);
    let failures = 1;
    services.play(async (reply, { body }) => {
      const asked = (JSON.parse(body) as { documents: string[] }).documents.length;
      if (asked === 500 && failures-- > 0) return services.refuses(500)(reply, { url: "", headers: {}, body, atMs: 0 });
      return upstream.json(ranking(asked))(reply, { url: "", headers: {}, body, atMs: 0 });
    });
    const answer = await rank(documents);
    expect(services.sent.map(({ documents: sent }) => (sent as string[]).length).sort()).toEqual([1_000, 500, 500]);
    const { results } = JSON.parse(answer.text) as { results: { index: number }[] };
    expect(new Set(results.map(({ index }) => index)).size).toBe(1_500);
    expect(await services.harness.receipt(answer)).toMatchObject({ usage: { input: 14 } });
  });

  test("of as many documents as a request holds is one request", async () => {
    services.play(services.harness.upstream.json(ranking(1_000)));
    await rank(Array.from({ length: 1_000 }, (_, index) => `document ${index}`));
    expect(services.sent).toHaveLength(1);
  });

  test("reports its usage to the client: tokens or searches", async () => {
    const { upstream } = services.harness;
    services.play(upstream.json(ranking(2)));
    const { meta } = JSON.parse((await rank(["one", "two"])).text) as { meta: object };
    expect(meta).toMatchObject({ billed_units: { input_tokens: 7 } });
  });

  test("H27: counted in another unit than it is paid by is estimated", async () => {
    const { upstream } = services.harness;
    services.play(upstream.json({ ...ranking(2), usage: {}, meta: { billed_units: { search_units: 1 } } }));
    const receipt = await services.harness.receipt(await rank(["one", "two"]));
    expect(receipt.usage_source).toBe("estimated");
    expect(receipt.cost_nano_usd).toBeGreaterThan(0);
  });

  test("of other documents than were sent is a failure of the host, which it is paid for", async () => {
    const { upstream } = services.harness;
    services.play(upstream.json(ranking(3)));
    const answer = await rank(["one", "two"]);
    expect(answer.status).toBe(502);
    expect(await services.harness.receipt(answer)).toMatchObject({ usage: { input: 14 }, usage_source: "partial" });
  });
});

test("a free moderation without reported usage counts as measured: no warning is logged", async () => {
  const { harness, log } = services;
  log.length = 0;
  services.play(harness.upstream.json({ id: "modr-1", model: "m", results: [{ flagged: false }] }));
  const sent = harness.sendPost("/v1/moderations", { model: "test/judge", input: "a text of some length" });
  const answer = await harness.clock.until(sent.answer);
  expect(answer.status).toBe(200);
  expect(await harness.receipt(answer)).toMatchObject({ usage_source: "measured", cost_nano_usd: 0 });
  expect(log.filter((line) => line.includes("implausible usage"))).toEqual([]);
});

test("H09: a strict moderation is rejected if it names other models, which are not used", async () => {
  const { harness } = services;
  services.play(harness.upstream.json({ id: "modr-1", model: "m", results: [{ flagged: false }] }));
  const body = { model: "test/judge", input: "a text", models: ["test/other"] };
  const sent = (headers: Record<string, string>) =>
    harness.clock.until(harness.sendPost("/v1/moderations", body, undefined, headers).answer);
  expect((await sent({})).headers.get("x-trivium-dropped")).toBe("models");
  expect((await sent({ "x-trivium-strict": "true" })).status).toBe(400);
});

test.each([
  [{}, "input"],
  [{ input: 7 }, "input"],
  [{ input: "hi", previous_response_id: "resp_1" }, "previous_response_id"],
])("contract 8: a compaction of %j is rejected with its path, %s", async (body, param) => {
  const { harness } = services;
  services.play(harness.upstream.json({}));
  const answer = await harness.post("/v1/responses/compact", { model: "test/writer", ...body });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { param } });
});
