import { afterEach, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const ROUTED_KEY = "sk-trv-a-key-with-routing-of-its-own";
const NARROW_KEY = "sk-trv-a-key-for-one-model-alone";
const OFFERS = ["one", "two"].map((provider) => ({ provider, model: "upstream-model" }));

/** Two providers of one model whose responses the test controls, and the routing of the gateway and of one key. */
async function start(routing: object = {}, keyRouting: object = {}): Promise<Harness> {
  const providers = Object.fromEntries(
    ["one", "two"].map((name) => [
      name,
      { kind: "openai", base_url: `${UPSTREAM_URL}/${name}/v1`, api_key: `upstream-secret-${name}` },
    ]),
  );
  return await Harness.start({
    config: {
      providers,
      models: [
        { id: "test/model", pricings: {}, offers: OFFERS },
        { id: "test/other", pricings: {}, offers: OFFERS },
        { id: "test/images", pricings: {}, output_modalities: ["image"], offers: imageOffers },
      ],
      routing,
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "routed", key: ROUTED_KEY, routing: keyRouting },
        { name: "narrow", key: NARROW_KEY, models: ["test/model"] },
      ],
    },
  });
}
const imageOffers = ["one", "two"].map((provider) => ({ provider, model: "gpt-image-1" }));

const ANSWER = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

let harness: Harness;
afterEach(() => expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 }));

/** Provider one refuses, provider two answers. */
const firstFails = () =>
  harness.upstream.play(
    ...Array.from(
      { length: 4 },
      () =>
        async (...[reply, request]: Parameters<ReturnType<Harness["upstream"]["json"]>>) => {
          const failing = request.url.includes("/one/");
          await harness.upstream.json(failing ? { error: { message: "down" } } : ANSWER, failing ? 401 : 200)(
            reply,
            request,
          );
        },
    ),
  );

describe("choices 8: call over key over gateway", () => {
  /** Each with its own gateway: an offer that failed once is not tried first again. */
  const call = async (routing: object, keyRouting: object, options: Parameters<Harness["call"]>[1] = {}) => {
    harness = await start(routing, keyRouting);
    firstFails();
    const answer = await harness.call("chat", { model: "test/model", ...options });
    return [answer.status, (await harness.receipt(answer)).offers.map(({ provider }) => provider)];
  };

  test("the gateway's routing applies if neither call nor key sets any", async () => {
    expect(await call({}, {})).toEqual([200, ["one", "two"]]);
    expect(await call({ fallback: false }, {})).toEqual([502, ["one"]]);
    expect(await call({ fallback: false }, {}, { key: ROUTED_KEY })).toEqual([502, ["one"]]);
    expect(await call({ max_attempts: 1 }, {})).toEqual([502, ["one"]]);
  });

  test("a key's routing overrides it, and a call's overrides both", async () => {
    const [gateway, key] = [{ fallback: false }, { fallback: true }];
    expect(await call(gateway, key, { key: ROUTED_KEY })).toEqual([200, ["one", "two"]]);
    const body = { provider: { fallback: "false" } };
    expect(await call(gateway, key, { key: ROUTED_KEY, body })).toEqual([502, ["one"]]);
    expect(await call(gateway, key, { body: { provider: { fallback: "two" } } })).toEqual([200, ["one", "two"]]);
    const headers = { "x-trivium-routing": '{"provider":{"providers":["two"]}}' };
    expect(await call(gateway, key, { headers })).toEqual([200, ["two"]]);
  });
});

describe("a refused call has no receipt and calls no provider", () => {
  test.each([...SCRIPTED_DIALECTS])("in the protocol of %s, with the known values", async (dialect) => {
    harness = await start();
    const asked = { model: "test/model", body: { provider: { providers: ["three"] } } };
    const answer = await harness.call(dialect, asked);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("provider.providers[0]");
    expect(answer.text).toContain("configured providers are one, two");
    expect(answer.headers.get("x-trivium-receipt")).toBeNull();
    expect(harness.upstream.requests).toHaveLength(0);
  });

  test("S05: a fallback to a model that the key may not call is forbidden, whoever names it", async () => {
    harness = await start();
    const provider = { fallback: "test/other" };
    const answer = await harness.call("chat", { model: "test/model", key: NARROW_KEY, body: { provider } });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("may not use the model test/other");
  });
});

describe("images accept provider, by body and by header", () => {
  const image = { data: [{ b64_json: Buffer.from("not looked at").toString("base64") }] };

  test("what has no meaning for an image is in the receipt", async () => {
    harness = await start();
    harness.upstream.play(harness.upstream.json(image));
    const body = { model: "test/images", prompt: "an owl", provider: { providers: ["two"], fallback: false } };
    const headers = { "x-trivium-survive": "true", "x-trivium-hedge": "true", "x-trivium-deadline-ms": "60000" };
    const sent = harness.sendPost("/v1/images/generations", body, TEST_KEY, headers);
    const receipt = await harness.receipt(await harness.clock.until(sent.answer));
    expect(receipt.offers.map(({ provider }) => provider)).toEqual(["two"]);
    expect(receipt.plan).toMatchObject([{ provider: "two", place: 1 }]);
    expect(receipt.fields.map(({ path }) => path)).toEqual(["x-trivium-survive", "x-trivium-hedge"]);
  });

  test("a wrong word is refused there as everywhere", async () => {
    harness = await start();
    const headers = { "x-trivium-routing": '{"provider":{"type":"best"}}' };
    const sent = harness.sendPost("/v1/images/generations", { model: "test/images", prompt: "a" }, TEST_KEY, headers);
    const answer = await harness.clock.until(sent.answer);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("provider.type must be one of")]);
  });
});
