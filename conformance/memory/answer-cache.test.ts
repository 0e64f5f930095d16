import { describe, expect, test } from "bun:test";
import { createKey, revokeKey, updateKey } from "../../src/access/keys.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const ALL = ["chat", "messages", "genai", "responses", "interactions"] as const satisfies readonly DialectName[];
const CACHE = { ttl_seconds: 60, max_mb: 1 };
const secretOf = (name: string) => `sk-trv-${name.padEnd(43, "y")}`;

interface KeySettings {
  name: string;
  [field: string]: unknown;
}

const start = (keys: readonly KeySettings[] = [], more: Record<string, unknown> = {}, machine?: Machine) =>
  Harness.start({
    config: {
      ...modelsOfEveryDialect(UPSTREAM_URL),
      keys: [
        { name: "tests", key: TEST_KEY, cache: CACHE },
        ...keys.map((key) => ({ key: secretOf(key.name), ...key })),
      ],
      ...more,
    },
    ...(machine && { machine }),
  });

/** Responses and interactions are stored by default, and stored ones are not cached. */
const STATELESS: Partial<Record<DialectName, object>> = {
  responses: { store: false },
  interactions: { store: false },
};
const TEXT = "The answer is 42, whatever the question was. 🦊";
/** In the formats of all dialects. */
const ids = /"(?:id|responseId|interaction_id|response_id)":\s*"[^"]*"/g;
const times = /"(?:created|created_at|completed_at|createTime|updated)":\s*(?:"[^"]*"|[\d.]+)/g;
const withoutIdsAndTimes = (text: string) => text.replace(ids, "ID").replace(times, "TIME");
const usage = (host: DialectName) => plainUsage(host, 10, 20);

function playAnswer(harness: Harness, host: DialectName, text = TEXT): void {
  harness.upstream.play(harness.upstream.json(plainAnswer(host, { text, usage: usage(host) })));
}

/** In several chunks, as from a real host. */
function playStream(harness: Harness, host: DialectName, [first, second] = [TEXT.slice(0, 9), TEXT.slice(9)]): void {
  const stream = plainStream(host, [first ?? "", second ?? ""], usage(host));
  const steps = stream.split(/(?<=\n\n)/).flatMap((event) => [event, 5]);
  harness.upstream.play(harness.upstream.stream(...steps));
}

async function call(harness: Harness, dialect: DialectName, { body, ...options }: CallOptions = {}) {
  const answer = await harness.call(dialect, { ...options, body: { ...STATELESS[dialect], ...body } });
  // Responses are stored in the background.
  await harness.clock.until(harness.clock.sleep(1));
  await harness.gateway.answerCache.close();
  return answer;
}

const pairs = ALL.flatMap((client) => ALL.map((host) => [client, host] as const));

describe("decision 0128: equal requests get the stored response", () => {
  test.each(pairs)(
    "%s client, %s host: a response and a stream come back, but for ids and times",
    async (client, host) => {
      for (const stream of [false, true]) {
        const harness = await start();
        if (stream) playStream(harness, host);
        else playAnswer(harness, host);
        const options = { model: `test/${host}`, stream };
        const made = await call(harness, client, options);
        expect(made.status).toBe(200);
        expect(made.headers.get("x-trivium-cached")).toBeNull();
        await harness.clock.until(harness.clock.sleep(7_000));
        const hit = await call(harness, client, options);
        expect([hit.status, hit.headers.get("x-trivium-cached")]).toEqual([200, "7"]);
        expect(withoutIdsAndTimes(hit.text)).toBe(withoutIdsAndTimes(made.text));
        expect(hit.text).not.toBe(made.text);
        expect(hit.headers.get("content-type")).toBe(made.headers.get("content-type"));
        expect(harness.upstream.requests).toHaveLength(1);
        const [of, again] = [await harness.receipt(made), await harness.receipt(hit)];
        expect([of.cached, of.saved_nano_usd, of.cached_answer]).toEqual([false, 0, null]);
        expect(of.cost_nano_usd).toBeGreaterThan(0);
        expect(again).toMatchObject({
          cached: true,
          cost_nano_usd: 0,
          saved_nano_usd: of.cost_nano_usd,
          model: of.model,
          lane: of.lane,
          dialect: of.dialect,
          stop: of.stop,
          fields: of.fields,
          offers: [],
          cached_answer: { receipt: of.id, age_seconds: 7, usage: of.usage },
        });
        expect([again.usage["input"], again.usage["output"]]).toEqual([0, 0]);
        expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0, openUpstreams: 0 });
      }
    },
  );

  test("Google's streams as one JSON array come back too", async () => {
    const harness = await start();
    playStream(harness, "genai");
    const path = "/v1beta/models/test/genai:streamGenerateContent";
    const body = { contents: [{ role: "user", parts: [{ text: "hello" }] }] };
    const made = await harness.post(path, body);
    await harness.clock.until(harness.clock.sleep(1_000));
    const hit = await harness.post(path, body);
    expect(hit.headers.get("x-trivium-cached")).toBe("1");
    expect(JSON.parse(hit.text)).toHaveLength(JSON.parse(made.text).length);
    expect(withoutIdsAndTimes(hit.text)).toBe(withoutIdsAndTimes(made.text));
  });

  test("a large stream is replayed at the pace of its client", async () => {
    const harness = await start();
    const half = "0123456789abcde🦊".repeat(12_000);
    playStream(harness, "chat", [half, half]);
    const made = await call(harness, "chat", { stream: true });
    const sent = harness.send("chat", { stream: true, readsChunks: 1 });
    await harness.clock.until(sent.response);
    await harness.clock.until(harness.clock.sleep(1_000));
    const early = sent.text.length;
    expect(harness.gateway.runningCalls).toBe(1);
    expect(harness.gateway.memory.held).toBeGreaterThan(made.text.length / 2);
    sent.goOn();
    const hit = await harness.clock.until(sent.answer);
    expect(withoutIdsAndTimes(hit.text)).toBe(withoutIdsAndTimes(made.text));
    expect(early).toBeLessThan(made.text.length / 2);
    expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 });
    const gone = harness.send("chat", { stream: true, readsChunks: 1 });
    await harness.clock.until(gone.response);
    gone.disconnect();
    await harness.clock.until(harness.clock.sleep(1_000));
    expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 });
    expect((await harness.receipts()).map(({ cached }) => cached)).toEqual([false, true, true]);
  });

  test("nothing is stored or looked up without a setting, and an unknown header value is not read", async () => {
    const harness = await start([{ name: "plain" }]);
    const key = secretOf("plain");
    for (const headers of [{}, { "x-trivium-cache": "nonsense" }] as Record<string, string>[]) {
      playAnswer(harness, "chat");
      const answer = await call(harness, "chat", { key, headers });
      expect([answer.status, answer.headers.get("x-trivium-cached")]).toEqual([200, null]);
      expect(harness.upstream.requests).toHaveLength(1);
    }
    expect(await harness.gateway.answerCache.sums("default")).toEqual({ entries: 0, bytes: 0, oldestMs: undefined });
    expect(harness.gateway.answerCache.counts).toMatchObject({ hits: 0, misses: 0, stored: 0 });
  });
});

describe("decision 0128: x-trivium-cache", () => {
  test("off neither reads nor writes, refresh only writes", async () => {
    const harness = await start();
    const say = async (mode: string, text: string) => {
      playAnswer(harness, "chat", text);
      return (await call(harness, "chat", { headers: { "x-trivium-cache": mode } })).text;
    };
    expect(await say("off", "first")).toContain("first");
    expect(await say("use", "second")).toContain("second");
    expect(await say("off", "third")).toContain("third");
    expect(await say("use", "unused")).toContain("second");
    expect(await say("refresh", "fresh")).toMatch(/unused|fresh/);
    const after = await call(harness, "chat");
    expect(after.text).toMatch(/unused|fresh/);
    expect(after.headers.get("x-trivium-cached")).not.toBeNull();
  });

  test.each(ALL)(
    "%s: another value is refused in the client's protocol, and the header goes to no provider",
    async (dialect) => {
      const harness = await start();
      const refused = await call(harness, dialect, { headers: { "x-trivium-cache": "yes please" } });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("x-trivium-cache must be use, refresh or off");
      expect(harness.upstream.requests).toHaveLength(0);
      playAnswer(harness, dialect);
      await call(harness, dialect, { headers: { "x-trivium-cache": "refresh" } });
      expect(JSON.stringify(harness.upstream.requests[0])).not.toContain("x-trivium");
    },
  );
});

describe("decision 0128: stored responses", () => {
  test("responses expire, and the sweep deletes them", async () => {
    const harness = await start();
    playAnswer(harness, "chat");
    await call(harness, "chat");
    await harness.clock.until(harness.clock.sleep(61_000));
    playAnswer(harness, "chat", "newer");
    const late = await call(harness, "chat");
    expect([late.headers.get("x-trivium-cached"), late.text.includes("newer")]).toEqual([null, true]);
    expect((await harness.gateway.answerCache.sums("default")).entries).toBe(1);
    await harness.clock.until(harness.clock.sleep(61_000));
    await harness.clock.until(harness.gateway.answerCache.sweep());
    expect(await harness.gateway.answerCache.sums("default")).toEqual({ entries: 0, bytes: 0, oldestMs: undefined });
  });

  test("the oldest are evicted at max_mb, and one that is larger than that is not stored", async () => {
    const harness = await start();
    const text = (seed: number) => {
      // Hard to compress.
      let state = seed + 1;
      return Array.from({ length: 30_000 }, () => {
        state = (state * 48_271) % 2_147_483_647;
        return state.toString(36);
      }).join("");
    };
    const ask = (n: number) =>
      call(harness, "chat", { body: { messages: [{ role: "user", content: `number ${n}` }] } });
    for (let n = 0; n < 12; n++) {
      playAnswer(harness, "chat", text(n));
      await ask(n);
      const { bytes } = await harness.gateway.answerCache.sums("default");
      expect(bytes).toBeLessThanOrEqual(1024 * 1024);
    }
    const { counts } = harness.gateway.answerCache;
    expect(counts.evicted).toBeGreaterThan(0);
    expect((await ask(11)).headers.get("x-trivium-cached")).not.toBeNull();
    playAnswer(harness, "chat", "again");
    expect((await ask(0)).headers.get("x-trivium-cached")).toBeNull();
    playAnswer(harness, "chat", Array.from({ length: 9 }, (_, n) => text(n)).join(""));
    const before = await harness.gateway.answerCache.sums("default");
    await ask(99);
    expect(await harness.gateway.answerCache.sums("default")).toEqual(before);
  });

  test.each([
    ["an error", "error", false],
    ["a filtered response", "filter", false],
    ["a broken stream", "cut", true],
  ] as const)("%s is not stored", async (_name, kind, stream) => {
    const harness = await start();
    const answer = plainStream("chat", ["Hello", " world"], usage("chat"));
    for (let n = 0; n < 2; n++) {
      if (kind === "error") harness.upstream.play(harness.upstream.json({ error: { message: "no" } }, 400));
      else if (kind === "cut") harness.upstream.play(harness.upstream.stream(answer.slice(0, answer.indexOf("world"))));
      else
        harness.upstream.play(
          harness.upstream.json(
            JSON.parse(
              JSON.stringify(plainAnswer("chat", { text: "no", usage: usage("chat") })).replace(
                '"stop"',
                '"content_filter"',
              ),
            ),
          ),
        );
      const got = await call(harness, "chat", { stream });
      expect(got.headers.get("x-trivium-cached")).toBeNull();
    }
    expect((await harness.gateway.answerCache.sums("default")).entries).toBe(0);
  });

  test("a stream whose client disconnects is not stored", async () => {
    const harness = await start();
    const answer = plainStream("chat", ["Hello", " world"], usage("chat"));
    const cut = answer.indexOf("world") - 40;
    harness.upstream.play(harness.upstream.stream(answer.slice(0, cut), 500, answer.slice(cut)));
    const sent = harness.send("chat", { stream: true });
    await harness.clock.until(sent.response);
    sent.disconnect();
    await sent.answer.catch(() => undefined);
    await harness.clock.until(harness.clock.sleep(5_000));
    expect((await harness.gateway.answerCache.sums("default")).entries).toBe(0);
  });

  test("responses and completions that are stored, and hosted tools, are not cached", async () => {
    const harness = await start();
    const bodies: [DialectName, object][] = [
      ["responses", { store: true }],
      ["chat", { store: true }],
      ["interactions", { store: true }],
      ["responses", { store: false, tools: [{ type: "web_search" }] }],
      ["responses", { store: false, tools: [{ type: "mcp", server_label: "s", server_url: "https://mcp.test" }] }],
      ["genai", { tools: [{ googleSearch: {} }] }],
      ["messages", { mcp_servers: [{ type: "url", name: "s", url: "https://mcp.test" }] }],
    ];
    for (const [dialect, body] of bodies) {
      for (let n = 0; n < 2; n++) {
        playAnswer(harness, dialect);
        const answer = await call(harness, dialect, { body: body as never, door: "dropin" });
        expect([dialect, answer.status, answer.headers.get("x-trivium-cached")]).toEqual([dialect, 200, null]);
      }
    }
    expect((await harness.gateway.answerCache.sums("default")).entries).toBe(0);
  });
});

describe("decision 0128: who gets a stored response", () => {
  test("no key of another project, no key that shares nothing, and only keys with a cache", async () => {
    const harness = await start([
      { name: "friend", cache: CACHE },
      { name: "stranger", project: "other", cache: CACHE },
      { name: "private", objects: "private", cache: CACHE },
      { name: "without" },
    ]);
    playAnswer(harness, "chat");
    await call(harness, "chat");
    const cached = async (name: string) => {
      playAnswer(harness, "chat");
      return (await call(harness, "chat", { key: secretOf(name) })).headers.get("x-trivium-cached");
    };
    expect(await cached("friend")).not.toBeNull();
    expect(await cached("stranger")).toBeNull();
    expect(await cached("private")).toBeNull();
    expect(await cached("private")).not.toBeNull();
    expect(await cached("without")).toBeNull();
  });

  test("a key that may not use the model, the protocol or the network is refused as always", async () => {
    const harness = await start([
      { name: "models", models: ["test/genai"], cache: CACHE },
      { name: "protocols", protocols: ["messages"], cache: CACHE },
      { name: "networks", networks: ["10.0.0.0/8"], cache: CACHE },
      { name: "expired", expires_at: "2020-01-01", cache: CACHE },
    ]);
    playAnswer(harness, "chat");
    await call(harness, "chat");
    for (const [name, status] of [
      ["models", 403],
      ["protocols", 403],
      ["networks", 403],
      ["expired", 401],
    ] as const) {
      expect((await call(harness, "chat", { key: secretOf(name) })).status).toBe(status);
    }
    expect(harness.gateway.answerCache.counts.hits).toBe(0);
  });

  test("a hit needs no tokens and no money, and counts as a request", async () => {
    const limits = { requests_per_minute: 4, tokens_per_minute: 400, budget_usd_total: 0.0005 };
    const harness = await start([
      { name: "limited", limits, cache: CACHE },
      { name: "rich", cache: CACHE },
    ]);
    const key = secretOf("limited");
    playAnswer(harness, "chat");
    await call(harness, "chat", { key: secretOf("rich"), body: { max_completion_tokens: 5_000 } });
    const refused = await call(harness, "chat", { key, body: { max_completion_tokens: 6_000 } });
    expect([402, 429]).toContain(refused.status);
    const hit = await call(harness, "chat", { key, body: { max_completion_tokens: 5_000 } });
    expect([hit.status, hit.headers.get("x-trivium-cached")]).toEqual([200, "0"]);
    expect(hit.headers.get("x-ratelimit-remaining-tokens")).toBe("400");
    let last = 200;
    for (let n = 0; n < 4; n++)
      last = (await call(harness, "chat", { key, body: { max_completion_tokens: 5_000 } })).status;
    expect(last).toBe(429);
    expect(harness.upstream.requests).toHaveLength(1);
  });

  test("an end user's requests are limited on hits too", async () => {
    const end_users = { limits: { requests_per_minute: 2 } };
    const harness = await start([{ name: "users", end_users, cache: CACHE }]);
    const ask = (user: string) =>
      call(harness, "chat", { key: secretOf("users"), headers: { "x-trivium-user": user } });
    playAnswer(harness, "chat");
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await ask("ann")).status);
    expect(statuses).toEqual([200, 200, 429]);
    const other = await ask("bob");
    expect(other.headers.get("x-trivium-cached")).not.toBeNull();
    expect((await harness.receipt(other)).end_user).toBe("bob");
  });

  test.each([
    ["genai", { "x-goog-api-client": "google-genai-sdk/1.0" }],
    ["messages", { "anthropic-beta": "output-128k-2025-02-19" }],
    ["chat", { "x-trivium-strict": "true" }],
    ["chat", { "x-trivium-survive": "true" }],
    ["responses", { "x-trivium-routing": '{"provider":{"fallback":"false"}}' }],
  ] as const)("%s: a header that changes what a client gets is a miss", async (dialect, headers) => {
    const harness = await start();
    playAnswer(harness, dialect);
    await call(harness, dialect);
    const other = await call(harness, dialect, { headers: headers as Record<string, string> });
    expect([other.status, other.headers.get("x-trivium-cached")]).toEqual([200, null]);
    expect((await call(harness, dialect)).headers.get("x-trivium-cached")).toBe("0");
  });

  test("traits that a narrower key requires make another digest", async () => {
    const harness = await start([{ name: "narrow", routing: { deadline_ms: 9_000 }, cache: CACHE }]);
    playAnswer(harness, "chat");
    await call(harness, "chat");
    playAnswer(harness, "chat");
    expect((await call(harness, "chat", { key: secretOf("narrow") })).headers.get("x-trivium-cached")).toBeNull();
  });
});

describe("decision 0128: guards", () => {
  const BLOCK = { name: "words", use: "words", words: ["forbidden"], action: "block", on: ["request", "response"] };

  test("a response that a guard changed, and one to a request that it changed, are not stored", async () => {
    const harness = await start([], { guards: [{ name: "people", use: "pii", action: "redact" }] });
    for (const [said, answered] of [
      ["hello", "write to a@example.com"],
      ["I am b@example.com", "hello"],
    ] as const) {
      for (let n = 0; n < 2; n++) {
        playAnswer(harness, "chat", answered);
        const body = { messages: [{ role: "user", content: said }] };
        expect((await call(harness, "chat", { body })).headers.get("x-trivium-cached")).toBeNull();
      }
    }
    playAnswer(harness, "chat", "clean");
    await call(harness, "chat", { body: { messages: [{ role: "user", content: "clean" }] } });
    const hit = await call(harness, "chat", { body: { messages: [{ role: "user", content: "clean" }] } });
    expect(hit.headers.get("x-trivium-cached")).not.toBeNull();
    const { guards } = await harness.receipt(hit);
    expect(guards.map(({ on, verdict }) => [on, verdict])).toEqual([
      ["request", "passed"],
      ["response", "not_run"],
    ]);
    expect(guards[1]?.reason).toContain("checked when it was made");
  });

  test("guards that were added later cause a miss, and still refuse", async () => {
    const machine = await makeMachine();
    const before = await start([], {}, machine);
    playAnswer(before, "chat", "forbidden fruit");
    await call(before, "chat");
    const after = await start([], { guards: [BLOCK] }, machine);
    playAnswer(after, "chat", "sweet fruit");
    const answer = await call(after, "chat");
    expect([answer.headers.get("x-trivium-cached"), answer.text.includes("sweet")]).toEqual([null, true]);
  });
});

const HOOK = "http://guard.test/check";
const HOOK_GUARD = {
  name: "hook",
  use: "webhook",
  url: HOOK,
  secret: "a-secret-of-sixteen-characters",
  on: ["request"],
};

describe("decision 0128: a guard that decides differently than before", () => {
  test.each([
    ["refuses", { verdict: "block", reason: "not any more" }, 400],
    [
      "changes the request",
      { verdict: "replace", replacements: [{ path: "messages[0].content", text: "other" }] },
      200,
    ],
    ["answers nothing", "nonsense", 503],
  ] as const)("it %s: the stored response is not used", async (_what, later, status) => {
    const harness = await start([{ name: "budget", limits: { budget_usd_total: 1 }, cache: CACHE }], {
      guards: [{ ...HOOK_GUARD, action: "redact" }],
    });
    const key = secretOf("budget");
    let verdict: unknown = { verdict: "allow" };
    const answer = harness.upstream.json(plainAnswer("chat", { text: TEXT, usage: usage("chat") }));
    harness.upstream.play((reply, request) =>
      (request.url.startsWith(HOOK) ? harness.upstream.json(verdict) : answer)(reply, request),
    );
    const toProvider = () => harness.upstream.requests.filter(({ url }) => !url.startsWith(HOOK)).length;
    await call(harness, "chat", { key });
    expect((await call(harness, "chat", { key })).headers.get("x-trivium-cached")).toBe("0");
    expect(toProvider()).toBe(1);
    verdict = later;
    const after = await call(harness, "chat", { key });
    expect([after.status, after.headers.get("x-trivium-cached")]).toEqual([status, null]);
    expect(toProvider()).toBe(status === 200 ? 2 : 1);
    const receipt = await harness.receipt(after);
    expect([receipt.cached, receipt.cost_nano_usd > 0]).toEqual([false, status === 200]);
    // What the changed request got is not stored for the unchanged one.
    verdict = { verdict: "allow" };
    expect((await call(harness, "chat", { key })).headers.get("x-trivium-cached")).toBe("0");
    expect(harness.gateway.admissions.held).toEqual({ calls: 0, nanoUsd: 0 });
  });
});

describe("decision 0128: cheats", () => {
  test("a key that was revoked, or has lost a model or the cache, gets nothing", async () => {
    const harness = await start();
    const { gateway, storage } = harness;
    const actor = { who: "test" };
    const asked = { name: "later", project: "default", answerCache: { ttlSeconds: 60, maxMb: 1 } };
    const made = await createKey(storage, asked, gateway, actor);
    const refresh = () => harness.clock.until(gateway.keys.refresh());
    await refresh();
    playAnswer(harness, "chat");
    const status = async () => {
      const { status: code, headers } = await call(harness, "chat", { key: made.key });
      return [code, headers.get("x-trivium-cached") !== null];
    };
    expect([await status(), await status()]).toEqual([
      [200, false],
      [200, true],
    ]);
    await updateKey(storage, made.id, { answerCache: null }, gateway, actor);
    await refresh();
    expect(await status()).toEqual([200, false]);
    await updateKey(storage, made.id, { answerCache: asked.answerCache, models: ["test/genai"] }, gateway, actor);
    await refresh();
    expect(await status()).toEqual([403, false]);
    await revokeKey(storage, made.id, gateway, actor);
    await refresh();
    expect(await status()).toEqual([401, false]);
  });

  test("a child key cannot turn the cache on", async () => {
    const harness = await start([{ name: "maker", scopes: ["keys:create"] }]);
    const refused = await harness.post("/api/v1/keys", { name: "child", cache: CACHE }, secretOf("maker"));
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining("`cache` can only be set by an operator"),
    ]);
  });

  test("two equal calls at once both ask the provider, and both responses are whole", async () => {
    const harness = await start();
    playStream(harness, "chat");
    const sent = [harness.send("chat", { stream: true }), harness.send("chat", { stream: true })];
    const [one, two] = await harness.clock.until(Promise.all(sent.map(({ answer }) => answer)));
    expect(harness.upstream.requests).toHaveLength(2);
    expect(withoutIdsAndTimes(one?.text ?? "")).toBe(withoutIdsAndTimes(two?.text ?? "x"));
    await harness.clock.until(harness.gateway.answerCache.close());
    expect((await harness.gateway.answerCache.sums("default")).entries).toBe(1);
  });

  test("a saved cost is no credit, and a hit is in no sum of tokens or money", async () => {
    const harness = await start([
      { name: "sums", limits: { requests_per_day: 5, tokens_per_day: 5_000 }, cache: CACHE },
    ]);
    const key = secretOf("sums");
    playAnswer(harness, "chat");
    const made = await call(harness, "chat", { key });
    for (let n = 0; n < 4; n++) await call(harness, "chat", { key });
    const { cost_nano_usd } = await harness.receipt(made);
    const [sums] = await harness.storage.query(
      "SELECT COUNT(*) AS calls, SUM(cost_nano_usd) AS cost, SUM(usage_output) AS output FROM receipts",
    );
    expect(sums).toEqual({ calls: 5, cost: cost_nano_usd, output: 20 });
    expect((await call(harness, "chat", { key })).status).toBe(429);
  });

  test("a hit needs no row before it, and its body is captured", async () => {
    const harness = await start([{ name: "captured", capture: true, cache: CACHE }], { ledger: { intents: true } });
    const key = secretOf("captured");
    playAnswer(harness, "chat");
    await call(harness, "chat", { key });
    const hit = await call(harness, "chat", { key });
    expect(hit.headers.get("x-trivium-cached")).toBe("0");
    await harness.clock.until(harness.clock.sleep(6_000));
    const kept = await harness.gateway.captures.read(hit.headers.get("x-trivium-receipt") ?? "");
    expect(JSON.stringify(kept?.bodies)).toContain("The answer is 42");
    const intents = await harness.storage.query("SELECT id FROM intents");
    expect(JSON.stringify(intents)).not.toContain(hit.headers.get("x-trivium-receipt") ?? "none");
  });

  test("an offer that left the configuration answers no more", async () => {
    const machine = await makeMachine();
    const before = await start([], {}, machine);
    playAnswer(before, "chat");
    await call(before, "chat");
    const config = modelsOfEveryDialect(UPSTREAM_URL);
    const models = (config["models"] as { id: string; offers: object[] }[]).map((model) =>
      model.id === "test/chat" ? { ...model, offers: [{ provider: "up-chat", model: "another-model" }] } : model,
    );
    const after = await start([], { models }, machine);
    playAnswer(after, "chat");
    expect((await call(after, "chat")).headers.get("x-trivium-cached")).toBeNull();
  });
});

describe("decision 0128: embeddings", () => {
  const vectors = {
    id: "test/vectors",
    output_modalities: ["embeddings"],
    pricings: { prompt: [{ value: 2, unit: "perMTokens", currency: "USD" }] },
    offers: [{ provider: "up-chat", model: "text-embedding-3-small" }],
  };
  const reply = {
    object: "list",
    model: "text-embedding-3-small",
    data: [{ object: "embedding", index: 0, embedding: Array.from({ length: 1536 }, (_, n) => n / 1536) }],
    usage: { prompt_tokens: 3, total_tokens: 3 },
  };

  test("equal requests get the stored vectors, and every other field is a miss", async () => {
    const config = modelsOfEveryDialect(UPSTREAM_URL);
    const harness = await start([{ name: "limited", limits: { tokens_per_day: 4 }, cache: CACHE }], {
      models: [...(config["models"] as object[]), vectors],
    });
    harness.upstream.play(harness.upstream.json(reply));
    const ask = async (more: object = {}, key = secretOf("limited")) => {
      const answer = await harness.post("/v1/embeddings", { model: "test/vectors", input: "hello", ...more }, key);
      await harness.clock.until(harness.clock.sleep(1));
      await harness.gateway.answerCache.close();
      return answer;
    };
    const made = await ask();
    expect(made.status).toBe(200);
    const hit = await ask();
    expect([hit.headers.get("x-trivium-cached"), hit.text]).toEqual(["0", made.text]);
    expect((await ask({ user: "ann" })).headers.get("x-trivium-cached")).toBe("0");
    const [of, again] = [await harness.receipt(made), await harness.receipt(hit)];
    expect(again).toMatchObject({ cached: true, cost_nano_usd: 0, saved_nano_usd: of.cost_nano_usd, stop: null });
    expect(of.cost_nano_usd).toBe(6_000);
    expect(harness.upstream.requests).toHaveLength(1);
    for (const more of [{ input: "hellO" }, { input: ["hello"] }, { encoding_format: "base64" }, { later: 1 }]) {
      expect((await ask(more, TEST_KEY)).headers.get("x-trivium-cached")).toBeNull();
    }
    expect((await ask({ dimensions: 5 }, secretOf("limited"))).status).toBe(429);
    expect((await ask()).headers.get("x-trivium-cached")).toBe("0");
    expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0, openUpstreams: 0 });
  });
});

describe("decision 0128: storage", () => {
  test("two gateways on one storage, and one that restarts, share responses", async () => {
    const machine = await makeMachine();
    const first = await start([], {}, machine);
    playAnswer(first, "messages");
    await call(first, "messages");
    const second = await start([], {}, machine);
    expect((await call(second, "messages")).headers.get("x-trivium-cached")).toBe("0");
  });

  test("a storage that fails or hangs is a miss within a tenth of a second", async () => {
    const machine = await makeMachine();
    const { storage } = machine;
    let mode: "works" | "fails" | "hangs" = "works";
    const query: typeof storage.query = (text, ...rest) => {
      if (mode === "works" || !text.includes("cached_answers")) return storage.query(text, ...rest);
      return mode === "fails" ? Promise.reject(new Error("down")) : new Promise(() => {});
    };
    const flaky = new Proxy(storage, {
      get: (target, name) => {
        if (name === "query") return query;
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    for (const how of ["fails", "hangs"] as const) {
      const harness = await start([], {}, { ...machine, storage: flaky });
      mode = how;
      for (let n = 0; n < 2; n++) {
        playAnswer(harness, "chat");
        const answer = await call(harness, "chat");
        expect([answer.status, answer.headers.get("x-trivium-cached")]).toEqual([200, null]);
        // The second call does not even ask.
        expect(answer.headMs).toBeLessThanOrEqual(n === 0 && how === "hangs" ? 120 : 20);
      }
      expect(harness.gateway.answerCache.counts.failed).toBeGreaterThan(0);
    }
  });
});
