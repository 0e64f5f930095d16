import { describe, expect, test } from "bun:test";
import { DIALECTS } from "../../testing/build-call.ts";
import { DONE, textChunk, usageChunk } from "../../testing/chat-chunks.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import type { DialectName } from "../canon/dialect-name.ts";

/** An ordinary answer costs 1,200,000 nano-dollars: exactly this budget. */
const ONE_CALL = { budget_usd_total: 0.0012 };
const LIMITS = {
  requests_per_day: { requests_per_day: 1 },
  requests_per_minute: { requests_per_minute: 1 },
  tokens_per_day: { tokens_per_day: 1_150 },
  budget: ONE_CALL,
};
const keyOf = (name: string) => `a-key-with-limits-by-model-${name}`;

const scripted = scriptedModels(UPSTREAM_URL);
const [chatModel] = scripted["models"] as [Record<string, unknown>];
const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
const config = {
  ...scripted,
  providers: {
    ...(scripted["providers"] as object),
    "up-dear": { kind: "openai", base_url: "http://dear.test/v1", api_key: "upstream-secret-dear" },
  },
  models: [
    ...(scripted["models"] as { offers: object[] }[]).map((model) => ({
      ...model,
      offers: model.offers.map((offer) => ({ ...offer, prefill: true })),
    })),
    {
      ...chatModel,
      id: "test/two-offers",
      offers: [
        { provider: "up-dear", model: "upstream-model", pricings: { prompt: price(100), completion: price(200) } },
        { provider: "up-chat", model: "upstream-model" },
      ],
    },
  ],
  keys: [
    { name: "tests", key: TEST_KEY },
    ...Object.entries(LIMITS).map(([name, limits]) => ({
      name,
      key: keyOf(name),
      limits_by_model: { "test/messages": limits },
    })),
    { name: "both", key: keyOf("both"), limits_by_model: { "test/chat": ONE_CALL, "test/messages": ONE_CALL } },
    { name: "frugal", key: keyOf("frugal"), limits: { budget_usd_total: 0.003 } },
    { name: "user", key: keyOf("user"), end_users: { limits: ONE_CALL } },
    {
      name: "falls back",
      key: keyOf("falls-back"),
      limits_by_model: { "test/messages": ONE_CALL },
      routing: { fallback: "test/messages" },
    },
  ],
};

const FALLBACK = { "x-trivium-routing": JSON.stringify({ provider: { fallback: "test/messages" } }) };
const SHORT = { max_completion_tokens: 100 };

/** The models of the hosts that were called. */
const calledIn = (harness: Harness): string[] =>
  harness.upstream.requests.map(({ url }) => {
    const { host, pathname } = new URL(url);
    if (host === "dear.test") return "dear";
    return pathname.endsWith("/messages") ? "messages" : pathname.includes("v1beta") ? "genai" : "chat";
  });

/** A gateway at which hosts whose names are given fail. */
async function started(options: { failing?: readonly string[]; harness?: Harness } = {}): Promise<Harness> {
  const harness = options.harness ?? (await Harness.start({ config }));
  fail(harness, options.failing ?? []);
  return harness;
}

function fail(harness: Harness, failing: readonly string[]): void {
  const { upstream } = harness;
  const answer: Script = (reply, request) => {
    const host = calledIn(harness).at(upstream.requests.indexOf(request)) ?? "";
    if (failing.includes(host)) return upstream.json({ error: { message: "no" } }, 503)(reply, request);
    const dialect = (host === "dear" ? "chat" : host) as DialectName;
    const usage = plainUsage(dialect, 1_000, 100);
    return upstream.json(plainAnswer(dialect, { text: "ok", usage }))(reply, request);
  };
  upstream.play(answer);
}

const leftOut = async (harness: Harness, answer: { headers: Headers }) =>
  (await harness.receipt(answer)).plan?.filter(({ why }) => why.includes("left out: "));

describe("H58: a fallback model has its own limits", () => {
  for (const dialect of DIALECTS) {
    for (const name of Object.keys(LIMITS)) {
      test(`${dialect}: over its ${name} it is not called, and the receipt says why`, async () => {
        const harness = await started({ failing: ["chat"] });
        const options = { key: keyOf(name), model: "test/chat", headers: FALLBACK };
        const body = dialect === "chat" ? { body: SHORT } : dialect === "genai" ? genaiShort() : {};
        const first = await harness.call(dialect, { ...options, ...body });
        expect([first.status, calledIn(harness)]).toEqual([200, ["chat", "chat", "messages"]]);
        fail(harness, ["chat"]);
        const second = await harness.call(dialect, { ...options, ...body });
        expect([second.status >= 500, calledIn(harness).includes("messages")]).toEqual([true, false]);
        expect(await leftOut(harness, second)).toMatchObject([
          { provider: "up-messages", model: "test/messages", why: expect.stringContaining("The model test/messages") },
        ]);
        expect(harness.gateway.admissions.held).toEqual({ calls: 0, nanoUsd: 0 });
      });
    }
  }

  test("streamed: over its budget it is not called", async () => {
    const harness = await started({ failing: ["chat"] });
    expect((await harness.call("messages", { key: keyOf("budget") })).status).toBe(200);
    fail(harness, ["chat"]);
    const answer = await harness.call("chat", { key: keyOf("budget"), stream: true, headers: FALLBACK, body: SHORT });
    expect([answer.status, calledIn(harness).includes("messages")]).toEqual([503, false]);
  });

  test("the fallback of a key's settings", async () => {
    const harness = await started({ failing: ["chat"] });
    const call = () => harness.call("chat", { key: keyOf("falls-back"), body: SHORT });
    expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(503);
  });

  test("calls in flight cannot spend the same remainder of a fallback model", async () => {
    const harness = await started({ failing: ["chat"] });
    const options = { key: keyOf("budget"), headers: FALLBACK, body: { max_completion_tokens: 500 } };
    const sent = Array.from({ length: 4 }, () => harness.send("chat", options).answer);
    const answers = await harness.clock.until(Promise.all(sent));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 503, 503, 503]);
    expect(calledIn(harness).filter((host) => host === "messages")).toHaveLength(1);
    expect(harness.gateway.admissions.held).toEqual({ calls: 0, nanoUsd: 0 });
  });

  test("a requested model over its limit is left out, and its fallback answers", async () => {
    const harness = await started();
    const options = { key: keyOf("both"), body: SHORT };
    expect((await harness.call("chat", options)).status).toBe(200);
    const answer = await harness.call("chat", { ...options, headers: FALLBACK });
    expect([answer.status, (await harness.receipt(answer)).model]).toEqual([200, "test/messages"]);
    expect(await leftOut(harness, answer)).toMatchObject([
      { provider: "up-chat", model: "test/chat", why: expect.stringContaining("The model test/chat") },
    ]);
  });

  test("if no offer is left, the call is refused for the limit of the requested model, before anything is sent", async () => {
    const harness = await started();
    const options = { key: keyOf("both"), headers: FALLBACK, body: SHORT };
    for (let count = 0; count < 2; count++) expect((await harness.call("chat", options)).status).toBe(200);
    fail(harness, []);
    const refused = await harness.call("chat", options);
    expect([refused.status, refused.text.includes("The model test/chat"), calledIn(harness)]).toEqual([402, true, []]);
    expect(refused.headers.get("x-trivium-receipt")).toBeNull();
  });

  test("a model of trivium/auto over its limit is left out", async () => {
    const harness = await started();
    const body = { ...SHORT, model_routing_config: { available_models: ["test/messages", "test/genai"] } };
    const call = () => harness.call("chat", { model: "trivium/auto", key: keyOf("budget"), body });
    const models: string[] = [];
    for (let count = 0; count < 3; count++) models.push((await harness.receipt(await call())).model);
    expect(models).toEqual(["test/messages", "test/genai", "test/genai"]);
  });

  test("the limits of the model that answered count the call, also after a restart; those of a model that was not called do not", async () => {
    const harness = await started();
    const options = { key: keyOf("both"), headers: FALLBACK, body: SHORT };
    expect((await harness.call("chat", options)).status).toBe(200);
    const again = await started({ harness: await Harness.start({ config, machine: harness.machine }) });
    const second = await again.call("chat", options);
    expect((await again.receipt(second)).model).toBe("test/messages");
    const third = await started({ harness: await Harness.start({ config, machine: harness.machine }) });
    expect((await third.call("chat", options)).status).toBe(402);
  });

  test("a request that was not sent to a model is not one of its requests of the minute", async () => {
    const harness = await started();
    const options = { key: keyOf("requests_per_minute"), headers: FALLBACK, body: SHORT };
    for (let count = 0; count < 3; count++) expect((await harness.call("chat", options)).status).toBe(200);
    expect((await harness.call("messages", { key: keyOf("requests_per_minute") })).status).toBe(200);
    expect((await harness.call("messages", { key: keyOf("requests_per_minute") })).status).toBe(429);
  });

  test("an end user's budget holds for every offer", async () => {
    const harness = await started({ failing: ["chat"] });
    const headers = { ...FALLBACK, "x-trivium-user": "ann" };
    const call = () => harness.call("chat", { key: keyOf("user"), headers, body: SHORT });
    expect([(await call()).status, (await call()).status]).toEqual([200, 402]);
  });

  test("a broken stream does not continue at a model over its limit", async () => {
    const harness = await started();
    const { upstream } = harness;
    const headers = { ...FALLBACK, "x-trivium-survive": "true" };
    const breaks = async () => {
      upstream.play(upstream.brokenStream(textChunk("Barges carry grain down the river"), 10), upstream.json({}, 503));
      const answer = await harness.call("chat", { key: keyOf("budget"), stream: true, headers, body: SHORT });
      return [answer.text.includes("Barges carry grain"), calledIn(harness).includes("messages")];
    };
    expect(await breaks()).toEqual([true, true]);
    fail(harness, []);
    expect((await harness.call("messages", { key: keyOf("budget") })).status).toBe(200);
    expect(await breaks()).toEqual([true, false]);
  });

  test("a hedge does not go to a model over its limit", async () => {
    const harness = await started();
    expect((await harness.call("messages", { key: keyOf("budget") })).status).toBe(200);
    const { upstream } = harness;
    upstream.play(upstream.stream(2_500, textChunk("ok"), textChunk("", "stop"), usageChunk(10, 3), DONE));
    const headers = { ...FALLBACK, "x-trivium-hedge": "true" };
    const answer = await harness.call("chat", { key: keyOf("budget"), stream: true, headers, body: SHORT });
    expect([answer.text.includes("ok"), calledIn(harness)]).toEqual([true, ["chat"]]);
  });
});

describe("H58: offers of one model at different prices", () => {
  const call = (harness: Harness, body: object = {}) =>
    harness.call("chat", {
      model: "test/two-offers",
      key: keyOf("frugal"),
      body: { max_completion_tokens: 100, ...body },
    });

  test("one that the budget cannot pay is left out, and the next one answers", async () => {
    const harness = await started();
    const answer = await call(harness);
    expect([answer.status, calledIn(harness)]).toEqual([200, ["chat"]]);
    expect(await leftOut(harness, answer)).toMatchObject([
      { provider: "up-dear", why: expect.stringContaining("this call may cost up to 0.02") },
    ]);
  });

  test("if it can pay none, the call is refused", async () => {
    const harness = await started();
    const refused = await call(harness, { max_completion_tokens: 8_000 });
    expect([refused.status, harness.upstream.requests]).toEqual([402, []]);
  });

  test("what is reserved is that of the offer that is called", async () => {
    const harness = await Harness.start({ config });
    const { upstream } = harness;
    const held: number[] = [];
    upstream.play((reply, request) => {
      held.push(harness.gateway.admissions.held.nanoUsd);
      return upstream.json({ error: { message: "no" } }, 503)(reply, request);
    });
    const key = keyOf("roomy");
    const roomy = { ...config, keys: [{ name: "roomy", key, limits: { budget_usd_total: 1 } }] };
    const other = await Harness.start({ config: roomy, machine: harness.machine });
    upstream.play((reply, request) => {
      held.push(other.gateway.admissions.held.nanoUsd);
      return upstream.json({ error: { message: "no" } }, 503)(reply, request);
    });
    await other.call("chat", { model: "test/two-offers", key, body: SHORT });
    expect(calledIn(other)).toEqual(["dear", "dear", "chat", "chat"]);
    const [dear = 0, , cheap = 0] = held;
    expect([held[1], held[3], dear > 50 * cheap, cheap > 0]).toEqual([dear, cheap, true, true]);
  });
});

/** Its limit of output is in another place. */
const genaiShort = () => ({ body: { generationConfig: { maxOutputTokens: 100 } } });
