import { beforeAll, describe, expect, test } from "bun:test";
import { Discounts } from "../../src/access/discounts.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const POOR = "a-key-of-the-configuration-with-a-budget";
const STRICT = "a-key-of-the-configuration-that-refuses";
const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
const offers = [{ provider: "up-chat", model: "upstream-model" }];

let harness: Harness;
beforeAll(async () => {
  const scripted = scriptedModels(UPSTREAM_URL);
  harness = await Harness.start({
    config: {
      ...scripted,
      models: [
        ...(scripted["models"] as object[]),
        { id: "test/unknown", offers },
        { id: "test/prompt-only", offers, pricings: { prompt: price(1) } },
        {
          id: "test/short",
          context_length: 400_000,
          offers,
          pricings: {
            prompt: [{ ...price(1)[0], conditions: { prompt_tokens: { unit: "kTokens", lte: 200 } } }],
            completion: price(2),
          },
        },
        { id: "test/free", offers, pricings: {} },
        { id: "test/at-offer", offers: [{ ...offers[0], pricings: { prompt: price(2), completion: price(4) } }] },
        { id: "test/vectors", output_modalities: ["embeddings"], offers },
        { id: "test/speech", output_modalities: ["audio"], offers: [{ ...offers[0], model: "gpt-4o-mini-tts" }] },
        { id: "test/painter", output_modalities: ["image"], offers: [{ ...offers[0], model: "gpt-image-1" }] },
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "poor", key: POOR, limits: { budget_usd_per_day: 1 } },
        { name: "strict", key: STRICT, billing: { unpriced: "refuse" } },
      ],
    },
  });
});

const playAnswer = () =>
  harness.upstream.play(harness.upstream.json(plainAnswer("chat", { text: "hi", usage: plainUsage("chat", 101, 53) })));

describe("H41, H61: a model whose price is unknown, or unknown in part", () => {
  const UNKNOWN = [
    ["test/unknown", "prompt"],
    ["test/prompt-only", "completion"],
    ["test/short", "prompt"],
  ] as const;
  const CALLERS = [
    ["under a budget", "dropin", POOR],
    ["with `unpriced: refuse`", "dropin", STRICT],
    ["at the strict base URL", "contract", TEST_KEY],
  ] as const;

  for (const [model, name] of UNKNOWN) {
    test.each(CALLERS)(`${model} is refused %s, before a provider is asked`, async (_case, door, key) => {
      const before = harness.upstream.requests.length;
      const refused = await harness.call("chat", { model, door, key });
      expect(refused.status).toBe(400);
      expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "unpriced", param: "model" } });
      expect(refused.text).toContain(name);
      expect(harness.upstream.requests.length).toBe(before);
    });
  }

  test("elsewhere it is called, and the receipt says what is missing", async () => {
    playAnswer();
    const given = await harness.call("chat", { model: "test/prompt-only", door: "dropin" });
    expect(given.status).toBe(200);
    expect(await harness.receipt(given)).toMatchObject({ cost_nano_usd: 101_000, unpriced: ["completion"] });
  });

  test("a model that is declared free costs nothing anywhere, and counting tokens needs no price", async () => {
    for (const key of [POOR, STRICT, TEST_KEY]) {
      playAnswer();
      const given = await harness.call("chat", { model: "test/free", door: "contract", key });
      expect(given.status).toBe(200);
      expect(await harness.receipt(given)).toMatchObject({ cost_nano_usd: 0, unpriced: [] });
    }
    const body = JSON.stringify({ model: "test/unknown", messages: [{ role: "user", content: "hi" }] });
    const headers = {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      authorization: `Bearer ${POOR}`,
    };
    const counted = await harness.clock.until(harness.sendRaw("/v1/messages/count_tokens", body, headers).answer);
    expect(counted.text).toContain("input_tokens");
  });

  test.each([
    ["/v1/embeddings", { model: "test/vectors", input: "hi" }],
    ["/v1/audio/speech", { model: "test/speech", input: "hi", voice: "alloy" }],
    ["/v1/images/generations", { model: "test/painter", prompt: "a cat" }],
  ])("%s is refused as well", async (path, body) => {
    const before = harness.upstream.requests.length;
    const refused = await harness.post(path, body, POOR);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "unpriced" } });
    expect(harness.upstream.requests.length).toBe(before);
  });
});

describe("contract 2.9: lists show what the caller pays", () => {
  const pricingsOf = async (id: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const { data } = JSON.parse((await harness.get("/api/v1/models", headers)).text) as {
      data: { id: string; pricings: Record<string, { value: number }[]> }[];
    };
    const pricings = data.find((model) => model.id === id)?.pricings ?? {};
    const { prompt, completion } = pricings;
    return { prompt: prompt?.map(({ value }) => value), completion: completion?.map(({ value }) => value) };
  };

  test("prices that stand on an offer alone are shown, free is 0, and unknown is absent", async () => {
    expect(await pricingsOf("test/at-offer")).toEqual({ prompt: [2], completion: [4] });
    expect(await pricingsOf("test/free")).toEqual({ prompt: [0], completion: [0] });
    expect(await pricingsOf("test/prompt-only")).toEqual({ prompt: [1], completion: undefined });
  });

  test("the discount of the caller's project is taken off, as its bills have it", async () => {
    const { keys } = harness.gateway;
    const identify = keys.identify.bind(keys);
    keys.identify = (...given) => ({
      ...keys.authenticate(...given),
      discounts: new Discounts([{ basis_points: 1_500, provider: "up-chat" }]),
    });
    try {
      const headers = { authorization: `Bearer ${TEST_KEY}` };
      expect(await pricingsOf("test/at-offer", headers)).toEqual({ prompt: [1.7], completion: [3.4] });
      expect(await pricingsOf("test/messages", headers)).toEqual({ prompt: [1], completion: [2] });
      expect(await pricingsOf("test/at-offer")).toEqual({ prompt: [2], completion: [4] });
      playAnswer();
      const given = await harness.call("chat", { model: "test/at-offer", door: "dropin" });
      expect(await harness.receipt(given)).toMatchObject({ cost_nano_usd: 101 * 1_700 + 53 * 3_400 });
    } finally {
      keys.identify = identify;
    }
  });
});
