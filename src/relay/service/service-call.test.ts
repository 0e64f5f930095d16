import { describe, expect, test } from "bun:test";
import { NANO_USD_PER_TOKEN, POOR_KEY, ServiceGateway, STRICT_KEY } from "./service-gateway.sample.ts";

const services = ServiceGateway.forTests();

describe("the life of a service call", () => {
  test("is answered, metered, priced, and in a receipt", async () => {
    services.play(services.embeds());
    const answer = await services.embedded();
    expect(answer.status).toBe(200);
    expect(await services.harness.receipt(answer)).toMatchObject({
      model: "test/vectors",
      provider: "one",
      upstream_model: "text-embedding-3-small",
      dialect: { client: "chat", upstream: "service" },
      lane: "translated",
      stream: false,
      offers: [{ provider: "one", outcome: "answered" }],
      usage: { input: 3, output: null },
      usage_source: "measured",
      cost_nano_usd: 3 * NANO_USD_PER_TOKEN,
    });
  });

  test("H16: a failing offer is tried twice, then the next one answers; failures are not billed", async () => {
    services.play(services.refuses(500), services.refuses(500), services.embeds());
    const answer = await services.embedded({ model: "test/two" });
    expect(answer.status).toBe(200);
    const { offers, provider, cost_nano_usd } = await services.harness.receipt(answer);
    expect(offers.map((offer) => [offer.provider, offer.outcome])).toEqual([
      ["one", "failed"],
      ["one", "failed"],
      ["two", "answered"],
    ]);
    expect([provider, cost_nano_usd]).toEqual(["two", 3 * NANO_USD_PER_TOKEN]);
  });

  test("H19: a host whose headers report a used-up limit is tried last until the limit is renewed", async () => {
    const used = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "30s" };
    const data = [{ index: 0, embedding: [1] }];
    services.play(services.harness.upstream.json({ data }, 200, used), services.embeds());
    const providerOf = async () => {
      const answer = await services.embedded({ model: "test/two" });
      return (await services.harness.receipt(answer)).provider;
    };
    expect([await providerOf(), await providerOf()]).toEqual(["one", "two"]);
    await services.harness.clock.pass(31_000);
    expect(await providerOf()).toBe("one");
  });

  test("a provider's refusal is the client's, with a receipt that costs nothing", async () => {
    services.play(services.refuses(400, { message: "input is too long", param: "input" }));
    const answer = await services.embedded();
    expect([answer.status, answer.body.error?.message, answer.body.error?.param]).toEqual([
      400,
      "input is too long",
      "input",
    ]);
    expect(await services.harness.receipt(answer)).toMatchObject({ cost_nano_usd: 0, usage: { input: null } });
  });

  test("choices 3: a provider that rejects the gateway's credential does not cause a 401 for the client", async () => {
    services.play(services.refuses(401, { message: "bad key", code: "invalid_api_key" }));
    expect((await services.embedded()).status).toBe(502);
  });

  test("a key without budget for it is rejected before the provider is called", async () => {
    services.play(services.embeds());
    const answer = await services.embedded({ input: "word ".repeat(2000) }, { key: POOR_KEY });
    expect([answer.status, services.sent.length]).toEqual([402, 0]);
  });

  test("H09: a strict call is rejected for a field that the provider does not know; others name it", async () => {
    services.play(services.embeds());
    const loose = await services.embedded({ colour: "red" });
    expect([loose.status, loose.headers.get("x-trivium-dropped")]).toEqual([200, "colour"]);
    const strict = await services.embedded({ colour: "red" }, { key: STRICT_KEY });
    expect([strict.status, strict.body.error?.param]).toEqual([400, "colour"]);
  });

  test("H13, H26: after a disconnect it is read for a moment longer, and billed as the provider reports", async () => {
    services.play(services.embeds(1_000));
    const call = services.embed();
    await services.harness.clock.pass(500);
    call.disconnect();
    call.answer.catch(() => {});
    await services.harness.clock.pass(5_000);
    const rows = await services.harness.receipts();
    expect(rows.at(-1)).toMatchObject({ usage: { input: 3 }, usage_source: "measured" });
  });

  test("H26: where it is not answered in time after a disconnect, the expected usage is billed", async () => {
    services.play(services.embeds(60_000));
    const call = services.embed({ input: "eight characters of text" });
    await services.harness.clock.pass(500);
    call.disconnect();
    call.answer.catch(() => {});
    await services.harness.clock.pass(10_000);
    const rows = await services.harness.receipts();
    expect(rows.at(-1)).toMatchObject({ usage: { input: 6 }, usage_source: "partial" });
  });

  test("a call's deadline ends it, and the requested work is billed as estimated", async () => {
    services.play(services.embeds(60_000));
    const answer = await services.embedded({ input: "abcd", trivium: { deadline_ms: 2_000 } });
    expect([answer.status, answer.body.error?.message]).toEqual([
      504,
      "The response did not finish within this request's deadline of 2000 ms.",
    ]);
    expect(await services.harness.receipt(answer)).toMatchObject({ usage: { input: 1 }, usage_source: "partial" });
  });

  test("a model of another kind is rejected, and a conversation with one of these too", async () => {
    const wrong = await services.embedded({ model: "test/writer" });
    expect([wrong.status, wrong.body.error?.message]).toEqual([
      400,
      "test/writer produces text, not embeddings. The model list shows the output_modalities of each model.",
    ]);
    const chat = await services.harness.call("chat", { model: "test/vectors" });
    expect([chat.status, JSON.parse(chat.text).error.message]).toEqual([
      400,
      "model: test/vectors generates embeddings, not text; use POST /v1/embeddings.",
    ]);
  });
});
