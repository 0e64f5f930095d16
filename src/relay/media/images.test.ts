import { describe, expect, test } from "bun:test";
import { answers, BLOCKED, ImageGateway, PNG, PRICE_NANO_USD, PROMPT, refuses } from "./image-gateway.sample.ts";

const images = ImageGateway.forTests();

describe("contract 4: images/generations", () => {
  test("images are made, answered, and billed by their number", async () => {
    images.play(images.paints());
    const answer = await images.generated({ n: 2 });
    expect([answer.status, answer.made, answer.endMs]).toEqual([200, [PNG, PNG], 1_000]);
    expect(images.sent).toEqual([{ model: "gpt-image-1", prompt: PROMPT, n: 2, size: "auto", quality: "auto" }]);
    expect(await images.harness.receipt(answer)).toMatchObject({
      model: "test/painter",
      provider: "one",
      upstream_model: "gpt-image-1",
      lane: "translated",
      stream: false,
      usage: { images: 2 },
      usage_source: "measured",
      cost_nano_usd: 2 * PRICE_NANO_USD,
      offers: [{ provider: "one", outcome: "answered", ms: 1_000 }],
      first_content_ms: 1_000,
      total_ms: 1_000,
    });
    expect(await images.rows()).toMatchObject([{ outcome: "ok" }]);
  });

  test("0061: its receipt has the call's tags", async () => {
    images.play(images.paints());
    const answer = await images.generated({}, { headers: { "x-trivium-tags": "team-a" } });
    expect((await images.harness.receipt(answer)).tags).toEqual(["team-a"]);
  });

  test("an image that takes minutes is waited for", async () => {
    images.play(images.paints(100_000));
    const answer = await images.generated();
    expect([answer.status, answer.made, answer.endMs]).toEqual([200, [PNG], 100_000]);
  });

  test("the answer waits for its row", async () => {
    images.play(images.paints());
    const { headers } = await images.generated();
    const [row] = await images.harness.storage.query("SELECT id FROM receipts ORDER BY id DESC LIMIT 1");
    expect(row?.["id"]).toBe(headers.get("x-trivium-receipt"));
  });

  test.each([
    [{ n: 11 }, "n"],
    [{ prompt: "" }, "prompt"],
    [{ size: "1x1" }, "size"],
  ])("what cannot be made is rejected by its name, before a provider is asked: %p", async (body, path) => {
    images.play(images.paints());
    const { status, error, headers } = await images.generated(body);
    expect([status, images.sent]).toEqual([400, []]);
    expect(error?.message).toContain(path);
    expect(headers.get("x-trivium-receipt")).toBeNull();
  });

  test.each([
    ["x-trivium-survive", "true"],
    ["x-trivium-hedge", "true"],
  ])("the receipt notes that %s does not apply to images", async (name, value) => {
    images.play(images.paints());
    const answer = await images.generated({}, { headers: { [name]: value } });
    expect(answer.status).toBe(200);
    const { fields } = await images.harness.receipt(answer);
    expect(fields.map(({ path }) => path)).toEqual([name]);
  });
});

describe("choices 4: offers of images", () => {
  test("another offer makes them where one fails, and both are in the receipt", async () => {
    images.play(refuses(429), images.paints());
    const answer = await images.generated({ model: "test/two" });
    expect([answer.status, answer.made]).toEqual([200, [PNG]]);
    expect(await images.harness.receipt(answer)).toMatchObject({
      provider: "two",
      cost_nano_usd: PRICE_NANO_USD,
      offers: [
        { provider: "one", outcome: "failed", reason: "rate_limited", ms: 0 },
        { provider: "two", outcome: "answered", ms: 1_000 },
      ],
    });
  });

  test("a failing host is tried once more after a pause, and its error is returned", async () => {
    images.play(refuses(500, { message: "the machine at 10.0.0.1 is broken" }));
    const answer = await images.generated();
    expect([answer.status, images.sent.length]).toEqual([502, 2]);
    expect(answer.endMs).toBeWithin(100, 301);
    expect(answer.headers.get("x-trivium-receipt")).toStartWith("rcp_");
    expect(await images.harness.receipt(answer)).toMatchObject({
      usage: { images: null },
      cost_nano_usd: 0,
      offers: [{ outcome: "failed" }, { outcome: "failed" }],
      first_content_ms: null,
    });
    expect(await images.rows()).toMatchObject([{ outcome: "upstream_failed", usage_source: "partial" }]);
  });

  test("a refused prompt counts against no provider, and costs nothing", async () => {
    images.play(refuses(400, BLOCKED));
    const { status, error, headers } = await images.generated({ model: "test/two" });
    expect([status, images.sent.length]).toEqual([400, 1]);
    const { offers } = await images.harness.receipt({ headers });
    expect(offers).toMatchObject([{ provider: "one", outcome: "failed", reason: "content_blocked" }]);
    expect(error).toMatchObject({ code: "content_filter", message: BLOCKED.message });
    expect(await images.rows()).toMatchObject([{ outcome: "content_blocked", cost_nano_usd: 0 }]);
  });

  test("an answer without an image is a failure of its offer", async () => {
    images.play(answers({ created: 1, data: [] }), answers({ created: 1, data: [] }), images.paints());
    const answer = await images.generated({ model: "test/two" });
    expect(answer.made).toEqual([PNG]);
    const { offers } = await images.harness.receipt(answer);
    expect(offers.map(({ provider, outcome }) => `${provider} ${outcome}`)).toEqual([
      "one failed",
      "one failed",
      "two answered",
    ]);
  });

  test("H28: a host that never answers is given up after ten minutes", async () => {
    images.play(() => {});
    const answer = await images.generated();
    expect([answer.status, answer.endMs, images.sent.length]).toEqual([504, 600_000, 1]);
    expect(answer.error?.message).toContain("did not respond within 600000 ms");
    expect(images.harness.upstream.replies[0]?.closedAtMs).toBeDefined();
  });
});
