import { beforeEach, describe, expect, test } from "bun:test";
import { DEFAULT_GATEWAY_ROUTING } from "../../src/canon/routing-settings.ts";
import { BUILT_IN_DIALECTS } from "../../src/dialects/index.ts";
import { RoutingDefaults } from "../../src/routing/call-routing.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript } from "../../testing/wires/responses-wire.ts";

const { breaker: BREAKER } = DEFAULT_GATEWAY_ROUTING;
/** Pauses are up to a fifth longer. */
const PAUSE_MS = BREAKER.openMs * 1.2;
const KINDS = { chat: "openai", messages: "anthropic", genai: "gemini", responses: "openai" } as const;
const FIRST_KEY = "secret-of-the-first-account";
const SECOND_KEY = "secret-of-the-second-account";

/** For each dialect a model at two providers, and two models at a provider with two credentials. */
function config(): Record<string, unknown> {
  const { models } = scriptedModels("") as { models: { id: string }[] };
  const [model] = models;
  const providers = SCRIPTED_DIALECTS.flatMap((dialect) => {
    const at = (host: string) => `http://${host}.test${KINDS[dialect] === "openai" ? "/v1" : ""}`;
    const one = (host: string) => ({ kind: KINDS[dialect], base_url: at(host), api_key: `secret-of-${host}` });
    const credentials = [
      { api_key: FIRST_KEY, weight: 1000 },
      { api_key: SECOND_KEY, weight: 1, label: "spare" },
    ];
    return [
      [`one-${dialect}`, one("one")],
      [`two-${dialect}`, one("two")],
      [`pair-${dialect}`, { kind: KINDS[dialect], base_url: at("pair"), credentials }],
    ];
  });
  const offered = (id: string, ...offers: object[]) => ({ ...model, id, offers });
  const all = SCRIPTED_DIALECTS.flatMap((dialect) => [
    offered(
      `two/${dialect}`,
      { provider: `one-${dialect}`, model: "upstream-model", dialect },
      { provider: `two-${dialect}`, model: "upstream-model", dialect },
    ),
    offered(`pair/${dialect}`, { provider: `pair-${dialect}`, model: "large", dialect }),
    offered(`pair/small-${dialect}`, { provider: `pair-${dialect}`, model: "small", dialect }),
  ]);
  return { providers: Object.fromEntries(providers), models: all };
}

type Host = "one" | "two" | "pair";

let harness: Harness;
let logged = "";
/** What each host does; hosts not listed here answer normally. */
let hosts: Partial<Record<Host, Script>>;
let calls = 0;

beforeEach(async () => {
  logged = "";
  harness = await Harness.start({ config: config(), onLog: (line) => (logged += line) });
  hosts = {};
  listen();
});

const hostOf = (url: string) => new URL(url).hostname.replace(".test", "") as Host;
const dialectOf = (url: string): ScriptedDialect =>
  SCRIPTED_DIALECTS.find((name) => url.includes(`/${name}`)) ?? "genai";

/** Forgets the requests so far. */
function listen(): void {
  harness.upstream.play((reply, request) => {
    const script = hosts[hostOf(request.url)] ?? answers();
    return script(reply, request);
  });
}

const answers =
  (headers: Record<string, string> = {}): Script =>
  async (reply, request) => {
    const dialect = dialectOf(request.url);
    const usage = plainUsage(dialect, 10, 20);
    await harness.clock.sleep(50);
    if (/"stream":true|:stream/.test(request.body + request.url)) {
      reply.head(200, { "content-type": "text/event-stream", ...headers });
      void reply.write(plainStream(dialect, ["hel", "lo"], usage));
      reply.end();
    } else harness.upstream.json(plainAnswer(dialect, { text: "hello", usage }), 200, headers)(reply, request);
  };

const refuses =
  (status: number, headers: Record<string, string> = {}, error: object = { message: "no" }): Script =>
  (reply, request) =>
    harness.upstream.json({ error }, status, headers)(reply, request);

/** Each call is a separate conversation, so that stickiness has no effect. */
function options(model: string, dialect: ScriptedDialect, more: CallOptions = {}): CallOptions {
  const text = `question ${++calls}`;
  const messages = { messages: [{ role: "user", content: text }] };
  const body = {
    chat: messages,
    messages,
    genai: { contents: [{ role: "user", parts: [{ text }] }] },
    responses: { input: text },
  }[dialect];
  return { ...more, model: `${model}/${dialect}`, body: { ...body, ...more.body } };
}

const ask = (dialect: ScriptedDialect, more: CallOptions = {}, model = "two"): Promise<ReadAnswer> =>
  harness.call(dialect, options(model, dialect, more));

/** The hosts that a call was sent to. */
async function askedBy(dialect: ScriptedDialect, more: CallOptions = {}, model = "two"): Promise<Host[]> {
  listen();
  await ask(dialect, more, model);
  return harness.upstream.requests.map(({ url }) => hostOf(url));
}

describe.each([...SCRIPTED_DIALECTS])("H19, %s: a provider's rate limits are honoured in advance", (dialect) => {
  test("after a 429 with Retry-After the offer is skipped until then", async () => {
    hosts.one = refuses(429, { "retry-after": "20" });
    expect(await askedBy(dialect)).toEqual(["one", "two"]);
    hosts = {};
    expect(await askedBy(dialect)).toEqual(["two"]);
    await harness.clock.pass(19_000);
    expect(await askedBy(dialect)).toEqual(["two"]);
    await harness.clock.pass(1000);
    expect(await askedBy(dialect)).toEqual(["one"]);
  });

  test("also for longer than the minute reported to callers", async () => {
    hosts = { one: refuses(429, { "retry-after": "600" }), two: refuses(429, { "retry-after": "600" }) };
    expect((await ask(dialect)).headers.get("retry-after")).toBe("60");
    await harness.clock.pass(601_000);
    hosts.two = answers();
    expect(await askedBy(dialect)).toEqual(["one", "two"]);
    hosts = {};
    await harness.clock.pass(590_000);
    expect(await askedBy(dialect)).toEqual(["two"]);
    await harness.clock.pass(11_000);
    expect(await askedBy(dialect)).toEqual(["one"]);
  });

  test("with nothing else left it is called anyway", async () => {
    hosts = { one: refuses(429, { "retry-after": "50" }), two: refuses(429, { "retry-after": "50" }) };
    expect((await ask(dialect)).status).toBe(429);
    hosts = {};
    expect((await ask(dialect)).status).toBe(200);
  });

  const limits = BUILT_IN_DIALECTS.codec(dialect)?.limitHeaders ?? [];
  test.each(limits.map((limit) => [limit.remaining, limit] as const))(
    "a limit that a response reports as used up: %s",
    async (_, { remaining, reset }) => {
      const fullAt = new Date(harness.clock.wallMs() + 10_000).toISOString();
      hosts.one = answers({ [remaining]: "0", [reset]: fullAt });
      expect(await askedBy(dialect)).toEqual(["one"]);
      hosts = {};
      expect(await askedBy(dialect)).toEqual(["two"]);
      await harness.clock.pass(10_000);
      hosts.one = answers({ [remaining]: "1", [reset]: fullAt });
      expect(await askedBy(dialect)).toEqual(["one"]);
      expect(await askedBy(dialect)).toEqual(["one"]);
    },
  );
});

test("H19: the delay in error details is honoured like a header", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" }];
  hosts.one = refuses(429, {}, { code: 429, status: "RESOURCE_EXHAUSTED", message: "slow down", details });
  expect(await askedBy("genai")).toEqual(["one", "two"]);
  hosts = {};
  await harness.clock.pass(33_000);
  expect(await askedBy("genai")).toEqual(["two"]);
  await harness.clock.pass(2000);
  expect(await askedBy("genai")).toEqual(["one"]);
});

describe.each([...SCRIPTED_DIALECTS])("choices 8, %s: a failing offer is skipped", (dialect) => {
  /** Until its breaker is open. */
  async function failOften(script: Script, more: CallOptions = {}) {
    hosts.one = script;
    for (let at = 0; at < BREAKER.failures; at++) await ask(dialect, more);
    hosts = {};
  }

  test("and returns with one probe at a time", async () => {
    await failOften(refuses(500));
    expect(await askedBy(dialect)).toEqual(["two"]);
    await harness.clock.pass(PAUSE_MS);
    listen();
    const probe = harness.send(dialect, options("two", dialect));
    await harness.clock.pass(10);
    const beside = harness.send(dialect, options("two", dialect));
    await harness.clock.until(Promise.all([probe.answer, beside.answer]));
    expect(harness.upstream.requests.map(({ url }) => hostOf(url))).toEqual(["one", "two"]);
    expect(await askedBy(dialect)).toEqual(["one"]);
  });

  test("and is skipped for longer if the probe fails", async () => {
    await failOften(refuses(500));
    await harness.clock.pass(PAUSE_MS);
    hosts.one = refuses(500);
    expect((await askedBy(dialect)).at(-1)).toBe("two");
    hosts = {};
    await harness.clock.pass(PAUSE_MS);
    expect(await askedBy(dialect)).toEqual(["two"]);
    await harness.clock.pass(PAUSE_MS);
    expect(await askedBy(dialect)).toEqual(["one"]);
  });

  test("also if its streams break after their first content", async () => {
    const script = new ResponsesScript();
    const first = {
      chat: wire.chatChunk({ content: "hel" }),
      messages: wire.messageStart() + wire.textBlock("hel", "lo").slice(0, -1),
      genai: wire.genaiChunk("hel"),
      responses: script.begin() + script.delta("hel"),
    }[dialect];
    await failOften((...asked) => harness.upstream.brokenStream(first, 100)(...asked), { stream: true });
    expect(await askedBy(dialect)).toEqual(["two"]);
  });

  test("with nothing else left it is called anyway", async () => {
    hosts = { one: refuses(500), two: refuses(500) };
    for (let at = 0; at < BREAKER.failures; at++) await ask(dialect);
    hosts = {};
    expect((await ask(dialect)).status).toBe(200);
  });

  test("but not for the client's own mistakes", async () => {
    for (const status of [400, 413, 422]) {
      hosts.one = refuses(status);
      for (let at = 0; at < 2 * BREAKER.failures; at++) await ask(dialect);
    }
    hosts = {};
    expect(await askedBy(dialect)).toEqual(["one"]);
  });

  test("nor for clients that do not wait", async () => {
    hosts.one = () => {};
    for (let at = 0; at < 2 * BREAKER.failures; at++) {
      const client = new AbortController();
      const sent = harness.send(dialect, options("two", dialect, { signal: client.signal }));
      await harness.clock.pass(100);
      client.abort();
      await harness.clock.pass(10_000);
      sent.answer.catch(() => {});
    }
    hosts = {};
    expect(await askedBy(dialect)).toEqual(["one"]);
  });

  test("nor for fields that a strict call forbids to drop", async () => {
    const headers = { "x-trivium-strict": "true" };
    const other = { chat: "genai", messages: "chat", genai: "messages", responses: "messages" } as const;
    for (let at = 0; at < 2 * BREAKER.failures; at++) {
      // In another dialect than the provider's, with a field that only this one has.
      const model = `two/${other[dialect]}`;
      const fields = {
        chat: { logit_bias: { 1: 1 } },
        messages: { top_k: 3 },
        genai: { cachedContent: "c" },
        responses: { truncation: "auto" },
      }[dialect];
      const given = options("two", dialect, { headers, body: fields });
      expect((await harness.call(dialect, { ...given, model })).status).toBe(400);
    }
    expect((await askedBy(other[dialect]))[0]).toBe("one");
  });
});

describe.each([...SCRIPTED_DIALECTS])("choices 8, %s: several credentials", (dialect) => {
  const keyOf = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
    Object.values(headers).some((value) => value.includes(FIRST_KEY)) ? "1" : "spare";
  const refusesFirst =
    (status: number): Script =>
    (reply, request) =>
      (keyOf(request) === "1" ? refuses(status, {}, { message: `bad key ${FIRST_KEY}` }) : answers())(reply, request);
  const keysAsked = () => harness.upstream.requests.map(keyOf);
  const askPair = (model = "pair") => {
    listen();
    return ask(dialect, {}, model);
  };

  test("a refused key excludes only itself, with all its models, at once", async () => {
    for (const status of [401, 403]) {
      await harness.clock.pass(3_600_000);
      hosts.pair = refusesFirst(status);
      await askPair();
      expect(keysAsked()).toEqual(["1", "spare"]);
      await askPair("pair");
      expect(keysAsked()).toEqual(["spare"]);
      listen();
      const given = options("pair", dialect);
      await harness.call(dialect, { ...given, model: `pair/small-${dialect}` });
      expect(keysAsked()).toEqual(["spare"]);
      hosts = {};
      await harness.clock.pass(2 * PAUSE_MS);
    }
  });

  test("and returns with a probe, or with a new configuration", async () => {
    hosts.pair = refusesFirst(401);
    await askPair();
    hosts = {};
    await askPair();
    expect(keysAsked()).toEqual(["spare"]);
    const { snapshot, health } = harness.gateway;
    health.reconfigure(snapshot.targets.all(), new RoutingDefaults());
    await askPair();
    expect(keysAsked()).toEqual(["1"]);
    hosts.pair = refusesFirst(401);
    await askPair();
    hosts = {};
    await harness.clock.pass(2 * PAUSE_MS);
    await askPair();
    expect(keysAsked()).toEqual(["1"]);
  });

  test("the limit of one does not affect the other", async () => {
    hosts.pair = (reply, request) =>
      (keyOf(request) === "1" ? refuses(429, { "retry-after": "20" }) : answers())(reply, request);
    await askPair();
    expect(keysAsked()).toEqual(["1", "spare"]);
    await askPair();
    expect(keysAsked()).toEqual(["spare"]);
  });

  test("S10: receipts have their labels; no receipt, response or log has a key", async () => {
    hosts.pair = refusesFirst(401);
    const given = await askPair();
    const receipt = await harness.receipt(given);
    expect(receipt.offers.map(({ credential, outcome }) => [credential, outcome])).toEqual([
      ["1", "failed"],
      ["spare", "answered"],
    ]);
    hosts.pair = refuses(400, {}, { message: `what a body, ${SECOND_KEY}` });
    const refused = await askPair();
    expect(refused.text).toContain("what a body, [secret]");
    const shown = [JSON.stringify(receipt), given.text, refused.text, logged];
    expect(shown.filter((text) => text.includes(FIRST_KEY) || text.includes(SECOND_KEY))).toEqual([]);
  });
});
