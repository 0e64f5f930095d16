import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Receipt } from "../../src/canon/receipt.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { errorIn, type ReadAnswer } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const NARROW_KEY = `sk-trv-${"NarrowRouting".padEnd(43, "x")}`;

const FALLING_KEY = `sk-trv-${"FallingRouting".padEnd(43, "x")}`;
const CONFINED_KEY = `sk-trv-${"ConfinedRouting".padEnd(43, "x")}`;

const prices = (prompt: number, completion: number) => ({
  prompt: [{ value: prompt, unit: "perMTokens", currency: "USD" }],
  completion: [{ value: completion, unit: "perMTokens", currency: "USD" }],
});
const model = (id: string, more: object) => ({
  id,
  context_length: 100_000,
  max_output_tokens: 8192,
  input_modalities: ["text"],
  output_modalities: ["text"],
  ...more,
});
const offers = (...providers: string[]) => providers.map((provider) => ({ provider, model: "upstream" }));

let harness: Harness;
const receipts: Receipt[] = [];
beforeAll(async () => {
  const provider = (name: string) => [
    name,
    { kind: "openai-compatible", base_url: `${UPSTREAM_URL}/${name}/v1`, api_key: `upstream-secret-${name}` },
  ];
  harness = await Harness.start({
    config: {
      providers: Object.fromEntries(["east", "west", "north"].map(provider)),
      models: [
        model("test/shared", { quality: 5, pricings: prices(1, 2), offers: offers("east", "west") }),
        model("test/wordy", {
          quality: 4,
          offers: [
            { provider: "west", model: "upstream", pricings: prices(500, 500) },
            { provider: "east", model: "upstream", pricings: prices(0.5, 40) },
            { provider: "north", model: "upstream", pricings: prices(600, 600) },
          ],
        }),
        model("test/small", { quality: 3, pricings: prices(0.1, 0.2), offers: offers("west") }),
        model("test/large", {
          quality: 9,
          context_length: 1_000_000,
          input_modalities: ["text", "image"],
          reasoning: true,
          pricings: prices(10, 20),
          offers: offers("north", "east"),
        }),
        model("test/painter", { output_modalities: ["image"], pricings: {}, offers: offers("north") }),
      ],
      aliases: { "the-large": "test/large" },
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "narrow", key: NARROW_KEY, models: ["test/small", "test/shared"] },
        { name: "falling", key: FALLING_KEY, models: ["test/sm*", "test/large"], routing: { fallback: "test/large" } },
        { name: "confined", key: CONFINED_KEY, models: ["test/small"], routing: { fallback: "test/large" } },
      ],
    },
  });
  const { ledger } = harness.gateway;
  const write = ledger.write.bind(ledger);
  ledger.write = (receipt, isLast) => {
    receipts.push(receipt);
    return write(receipt, isLast);
  };
});
beforeEach(async () => {
  // Whatever earlier tests revealed about the hosts, and their conversations, is forgotten.
  await harness.clock.pass(3_700_000);
  receipts.length = 0;
});

const answer = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const answers: Script = (...asked) => harness.upstream.json(answer)(...asked);
const fails: Script = (...asked) => harness.upstream.json({}, 429)(...asked);

/** The hosts that were called, in order. */
const asked = () => harness.upstream.requests.map(({ url }) => new URL(url).pathname.split("/")[1]);
const planOf = () => receipts.at(-1)?.plan?.map(({ provider, why }) => `${provider}: ${why}`);
const modelIn = ({ text }: ReadAnswer): unknown => {
  const body = JSON.parse(text);
  return body.model ?? body.modelVersion;
};
const chat = (body: Record<string, unknown>, more: { key?: string; model?: string } = {}) =>
  harness.call("chat", { model: "test/shared", ...more, body });

describe("choices 6: a call sets how its offers are tried", () => {
  test("a list of providers restricts and orders, and the receipt says why", async () => {
    harness.upstream.play(answers);
    await chat({ provider: { providers: ["west"] } });
    expect([asked(), planOf()]).toEqual([["west"], ["west: first of the requested providers"]]);
  });

  test("a call without preferences of a model with one offer has no plan in its receipt", async () => {
    harness.upstream.play(answers);
    await chat({}, { model: "test/small" });
    expect([asked(), planOf()]).toEqual([["west"], undefined]);
    harness.upstream.play(answers);
    await chat({ provider: { type: "round_robin" } }, { model: "test/small" });
    expect(planOf()).toEqual(["west: the only offer"]);
  });

  test("round robin takes turns, also between equal calls", async () => {
    const hosts: unknown[] = [];
    for (let call = 0; call < 4; call++) {
      harness.upstream.play(answers);
      await chat({ provider: { type: "round_robin" } });
      hosts.push(asked()[0]);
    }
    expect(hosts.slice(0, 2).sort()).toEqual(["east", "west"]);
    expect(hosts.slice(2)).toEqual(hosts.slice(0, 2));
  });

  test("an offer in a requested pause is tried last by the next call, in every strategy", async () => {
    const busy: Script = (...given) => harness.upstream.json({}, 429, { "retry-after": "30" })(...given);
    harness.upstream.play(busy, answers);
    await chat({});
    expect(asked()).toEqual(["east", "west"]);
    harness.upstream.play(answers);
    await chat({});
    expect(asked()).toEqual(["west"]);
    expect(planOf()).toEqual([
      "west: first in catalogue order",
      "east: its provider asked for a pause of 30 s: tried last",
    ]);
  });

  test("a provider that does not offer the model is an error that lists those that do", async () => {
    const given = await chat({ provider: { providers: ["north"] } });
    expect([given.status, errorIn(given).message]).toEqual([
      400,
      "provider.providers: The provider north does not offer test/shared. Providers that do: east, west.",
    ]);
    const fallback = await chat({ provider: { fallback: "north" } });
    expect([fallback.status, errorIn(fallback).message]).toEqual([
      400,
      "provider.fallback: The provider north does not offer test/shared. Providers that do: east, west.",
    ]);
  });
});

describe("choices 6: a model as the fallback", () => {
  test.each([...SCRIPTED_DIALECTS])(
    "%s: answers after all offers of the first have failed, and is named and billed",
    async (dialect) => {
      harness.upstream.play(fails, fails, answers);
      const given = await harness.call(dialect, {
        model: "test/shared",
        headers: { "x-trivium-routing": JSON.stringify({ provider: { fallback: "test/large" } }) },
      });
      expect([given.status, modelIn(given), asked()]).toEqual([200, "test/large", ["east", "west", "north"]]);
      expect(receipts.at(-1)).toMatchObject({ model: "test/large", provider: "north", costNanoUsd: 30_000 });
      expect(planOf()?.at(-1)).toBe("east: the named fallback: test/large");
    },
  );

  test("a requested name at the drop-in door is not given to another model", async () => {
    harness.upstream.play(fails, fails, answers);
    const given = await harness.call("chat", {
      door: "dropin",
      model: "test/shared",
      body: { provider: { fallback: "the-large" } },
    });
    expect(modelIn(given)).toBe("test/large");
  });

  test("S05: a model that the key may not call cannot be its fallback", async () => {
    const given = await chat({ provider: { fallback: "test/large" } }, { key: NARROW_KEY });
    expect(given.status).toBe(403);
  });

  test("a key's default fallback is left out of calls that it does not fit", async () => {
    harness.upstream.play(fails, answers);
    expect(modelIn(await chat({}, { model: "test/small", key: FALLING_KEY }))).toBe("test/large");
    harness.upstream.play(answers);
    await chat({}, { model: "test/large", key: FALLING_KEY });
    expect(planOf()).toHaveLength(2);
    await harness.clock.pass(120_000);
    harness.upstream.play(fails);
    expect((await chat({}, { model: "test/small", key: CONFINED_KEY })).status).toBe(429);
    expect(asked()).toEqual(["west"]);
  });

  test("a model that does not produce text is refused", async () => {
    const given = await chat({ provider: { fallback: "test/painter" } });
    expect([given.status, errorIn(given).message]).toEqual([
      400,
      "provider.fallback: The fallback model test/painter does not generate text.",
    ]);
  });
});

describe("prompt-cache stickiness", () => {
  const turns = (...words: string[]) =>
    words.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }));
  const roundRobin = { type: "round_robin" };

  test("a conversation stays where it was answered, others take turns", async () => {
    harness.upstream.play(answers);
    await chat({ messages: turns("one"), provider: roundRobin });
    const first = asked();
    for (const words of [
      ["one", "hi", "two"],
      ["one", "hi", "two", "hi", "three"],
    ]) {
      harness.upstream.play(answers);
      await chat({ messages: turns(...words), provider: roundRobin });
      expect(asked()).toEqual(first);
      expect(planOf()?.[0]).toBe(`${first[0]}: holds this conversation's prompt cache`);
    }
    harness.upstream.play(answers);
    await chat({ messages: turns("another"), provider: roundRobin });
    const other = asked();
    harness.upstream.play(answers);
    await chat({ messages: turns("yet another"), provider: roundRobin });
    expect(asked()).not.toEqual(other);
  });

  test("it continues where its last response came from, until the cache has probably expired", async () => {
    harness.upstream.play(fails, answers);
    await chat({ messages: turns("begun") });
    expect(asked()).toEqual(["east", "west"]);
    await harness.clock.pass(300_000);
    harness.upstream.play(answers);
    await chat({ messages: turns("begun", "hi", "more") });
    expect(asked()).toEqual(["west"]);
    await harness.clock.pass(601_000);
    harness.upstream.play(answers);
    await chat({ messages: turns("begun", "hi", "more") });
    expect(asked()).toEqual(["east"]);
  });

  test("a call of another project or model has no effect, nor has a failed one", async () => {
    harness.upstream.play(fails, fails);
    await chat({ messages: turns("lost") });
    harness.upstream.play(answers);
    await harness.clock.pass(120_000);
    await chat({ messages: turns("lost", "hi", "more") });
    expect(planOf()?.[0]).toBe("east: first in catalogue order");
  });
});

describe("choices 8: trivium/auto", () => {
  const auto = (config: object | undefined, more: Record<string, unknown> = {}, key = TEST_KEY) =>
    chat({ model_routing_config: config, ...more }, { model: "trivium/auto", key });

  test.each([...SCRIPTED_DIALECTS])(
    "%s: the response names the chosen model, and the receipt says why",
    async (dialect) => {
      harness.upstream.play(answers);
      const given = await harness.call(dialect, {
        model: "trivium/auto",
        headers: {
          "x-trivium-routing": JSON.stringify({
            model_routing_config: { available_models: ["test/shared", "the-large"], preference: "performance" },
          }),
        },
      });
      expect([given.status, modelIn(given), asked()]).toEqual([200, "test/large", ["north"]]);
      expect(receipts.at(-1)).toMatchObject({ model: "test/large", fields: [] });
      expect(planOf()).toEqual([
        "north: trivium/auto chose test/large from 2 models: highest quality (9 of 10); first in catalogue order",
        "east: next in catalogue order",
        "east: next choice of trivium/auto: test/shared",
        "west: next choice of trivium/auto: test/shared",
      ]);
    },
  );

  test("without a list it chooses among all text models that the key may call", async () => {
    harness.upstream.play(answers);
    const given = await auto({ preference: "price", task_info: { complexity: "low" } });
    expect(modelIn(given)).toBe("test/small");
    expect(planOf()?.[0]).toMatch(
      /^west: trivium\/auto chose test\/small from 4 models: cheapest for this call \(about \$0\.0002\d\); the only offer$/,
    );
    harness.upstream.play(answers);
    expect(modelIn(await auto({ preference: "performance" }))).toBe("test/large");
    harness.upstream.play(answers);
    expect(modelIn(await auto({ preference: "performance" }, {}, NARROW_KEY))).toBe("test/shared");
  });

  test("the price is that of this very call: its prompt, and its output limit", async () => {
    const config = { available_models: ["test/shared", "test/wordy"], preference: "price" };
    const messages = [{ role: "user", content: "word ".repeat(1000) }];
    harness.upstream.play(answers);
    expect(modelIn(await auto(config, { messages, max_completion_tokens: 1 }))).toBe("test/wordy");
    harness.upstream.play(answers);
    expect(modelIn(await auto(config, { messages }))).toBe("test/shared");
  });

  test("a model that cannot serve the call is skipped: images, thinking, length", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const low = { preference: "price", task_info: { complexity: "low" } };
    for (const body of [
      { messages: [{ role: "user", content: [{ type: "text", text: "what?" }, image] }] },
      { reasoning_effort: "high" },
      { messages: [{ role: "user", content: "word ".repeat(100_000) }] },
    ]) {
      harness.upstream.play(answers);
      expect(modelIn(await auto(low, body))).toBe("test/large");
    }
    // If none can, one is called anyway: sizes are estimates.
    harness.upstream.play(answers);
    const only = { available_models: ["test/small"] };
    expect((await auto(only, { reasoning_effort: "high" })).status).toBe(200);
    expect(planOf()).toHaveLength(1);
    expect(planOf()?.[0]).toContain("trivium/auto chose test/small from 1 models");
  });

  test("the preferred model, else the next; fallback false takes none", async () => {
    harness.upstream.play(fails, answers);
    const preferring = { preference: "test/small" };
    expect(modelIn(await auto(preferring))).toBe("test/shared");
    expect(planOf()?.[0]).toContain("trivium/auto chose test/small from 4 models: the preferred model");
    await harness.clock.pass(120_000);
    harness.upstream.play(fails);
    expect((await auto(preferring, { provider: { fallback: "false" } })).status).toBe(429);
    expect(asked()).toEqual(["west"]);
    await harness.clock.pass(120_000);
    harness.upstream.play(fails, answers);
    expect(modelIn(await auto(preferring, { provider: { fallback: "test/large" } }))).toBe("test/large");
  });

  test("only at the requested providers", async () => {
    harness.upstream.play(answers);
    const given = await auto(
      { preference: "price", task_info: { complexity: "low" } },
      { provider: { providers: ["east"] } },
    );
    expect([modelIn(given), asked()]).toEqual(["test/shared", ["east"]]);
    const none = await auto({ available_models: ["test/small"] }, { provider: { providers: ["north", "east"] } });
    expect([none.status, errorIn(none).message]).toEqual([
      400,
      "model_routing_config.available_models: None of test/small generates text at north, east.",
    ]);
  });

  test("a model whose offers are all paused comes last", async () => {
    const busy: Script = (...given) => harness.upstream.json({}, 429, { "retry-after": "60" })(...given);
    const low = { preference: "price", task_info: { complexity: "low" } };
    harness.upstream.play(busy, answers);
    expect(modelIn(await auto(low))).toBe("test/shared");
    harness.upstream.play(answers);
    expect(modelIn(await auto(low))).toBe("test/shared");
    expect(asked()).toEqual(["east"]);
    expect(planOf()?.[0]).toContain("trivium/auto chose test/shared from 4 models");
  });

  test("errors name the valid values", async () => {
    const refused = async (...given: Parameters<typeof auto>) => {
      const refusal = await auto(...given);
      return [refusal.status, errorIn(refusal).message];
    };
    expect(await refused(undefined)).toEqual([
      400,
      "model_routing_config is required for the model trivium/auto; use {} to let it choose from all models.",
    ]);
    expect(await refused({ task_info: { task_type: "embedding" } })).toEqual([
      400,
      'model_routing_config.task_info.task_type is "embedding", but this endpoint generates text; use "chat" or "completion". For embeddings, use POST /v1/embeddings.',
    ]);
    expect(await refused({ available_models: ["test/painter"] })).toEqual([
      400,
      "model_routing_config.available_models: None of test/painter generates text.",
    ]);
    const [status, message] = await refused({ available_models: ["test/large"] }, {}, NARROW_KEY);
    expect([status, String(message)]).toEqual([403, expect.stringContaining("may not use the model test/large")]);
  });

  test("tokens are counted for the model that would be chosen", async () => {
    harness.upstream.play(answers);
    const counting = {
      model: "trivium/auto",
      messages: [{ role: "user", content: "hello" }],
      model_routing_config: { preference: "performance" },
    };
    const version = { "partner-version": "2023-06-01" };
    const sent = harness.sendPost("/api/msg/v1/messages/count_tokens", counting, TEST_KEY, version);
    const given = await harness.clock.until(sent.answer);
    expect(given.status).toBe(200);
    expect(receipts.at(-1)).toMatchObject({ model: "test/large", verb: "count_tokens" });
  });
});
