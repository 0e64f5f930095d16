import { beforeEach, describe, expect, test } from "bun:test";
import { CacheKeeper } from "../../src/relay/caches/keep-caches.ts";
import { deleteInstance, insertInstance } from "../../src/storage/tables/instances.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { MemoryCacheHost } from "../../testing/hosts/memory-cache-host.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const COLLEAGUE = "another-key-of-the-same-project";
const PRIVATE = "a-key-that-keeps-to-itself-here";
const STRANGER = "a-key-of-another-project-here-01";
const LIMITED = "a-key-with-half-a-dollar-to-spend";
const ALLOWED = "a-key-that-may-name-what-it-likes";

const usd = (value: number, unit = "perMTokens") => [{ value, unit, currency: "USD" }];
const PRICES = { prompt: usd(1), completion: usd(2), input_cache_read: usd(0.1) };
const model = (id: string, providers: readonly string[], more: object = {}) => ({
  id,
  context_length: 1_000_000,
  max_output_tokens: 1_000,
  output_modalities: ["text"],
  pricings: { ...PRICES, cache_storage: usd(1, "perMTokenHours") },
  offers: providers.map((provider) => ({ provider, model: "upstream-model" })),
  ...more,
});
const provider = (kind: string, url: string, more: object) => ({ kind, base_url: url, ...more });

const CONFIG = {
  providers: {
    google: provider("gemini", UPSTREAM_URL, {
      credentials: [
        { label: "one", api_key: "upstream-key-one" },
        { label: "two", api_key: "upstream-key-two" },
      ],
    }),
    second: provider("gemini", "http://second.test", { api_key: "upstream-key-of-the-second" }),
    chat: provider("openai-compatible", `${UPSTREAM_URL}/v1`, { api_key: "upstream-key-of-chat" }),
  },
  models: [
    model("test/cached", ["google", "second"]),
    model("test/other", ["google"]),
    model("test/unpriced", ["google"], { pricings: PRICES }),
    model("test/chat", ["chat"]),
  ],
  keys: [
    { name: "tests", key: TEST_KEY, scopes: ["keys:create"] },
    { name: "colleague", key: COLLEAGUE },
    { name: "private", key: PRIVATE, objects: "private" },
    { name: "stranger", key: STRANGER, project: "others" },
    { name: "limited", key: LIMITED, limits: { budget_usd_total: 0.5 } },
    { name: "allowed", key: ALLOWED, provider_objects: true },
  ],
};

const HOUR_MS = 3_600_000;
/** 100,000 tokens at one dollar per million: as input, and again for each hour of storage. */
const TENTH = 100_000_000;

let machine: Machine;
let harness: Harness;
let host: MemoryCacheHost;
let keeper: CacheKeeper;

async function start(): Promise<void> {
  harness = await Harness.start({ config: CONFIG, machine });
  keeper = new CacheKeeper(harness.gateway);
}

beforeEach(async () => {
  machine = await makeMachine();
  host = new MemoryCacheHost(machine.clock);
  machine.upstream.play(host.script);
  await start();
});

interface CacheView {
  name: string;
  model: string;
  displayName?: string;
  expireTime: string;
  usageMetadata: { totalTokenCount: number };
}

const content = { contents: [{ role: "user", parts: [{ text: "A long story." }] }] };
const create = (more: object = {}, key = TEST_KEY) =>
  harness.ask("POST", "/v1beta/cachedContents", key, { model: "models/test/cached", ...content, ...more });
const created = async (more: object = {}, key = TEST_KEY): Promise<CacheView> => {
  const answer = await create(more, key);
  if (answer.status !== 200) throw new Error(answer.text);
  return JSON.parse(answer.text) as CacheView;
};
const generate = (cachedContent: string, more: object = {}, key = TEST_KEY, name = "test/cached") =>
  harness.ask("POST", `/v1beta/models/${name}:generateContent`, key, {
    contents: [{ role: "user", parts: [{ text: "Sum it up." }] }],
    cachedContent,
    ...more,
  });
const patch = (name: string, body: object, key = TEST_KEY) => harness.ask("PATCH", `/v1beta/${name}`, key, body);
const remove = (name: string, key = TEST_KEY) => harness.ask("DELETE", `/v1beta/${name}`, key);
const errorOf = (text: string) => (JSON.parse(text) as { error: { message: string; status: string } }).error;
const after = (ms: number) => harness.clock.until(harness.clock.sleep(ms));
const keep = () => harness.clock.until(keeper.run());

interface Bill {
  verb: string;
  key: string;
  cost: number;
  hours: number | undefined;
}

/** What the ledger has, oldest first. */
async function bills(): Promise<Bill[]> {
  const rows = await machine.storage.query(
    "SELECT verb, key_id, cost_nano_usd, routing FROM receipts ORDER BY created_at_ms, id",
  );
  return rows.map((row) => {
    const { tools } = JSON.parse(String(row["routing"] ?? "{}")) as { tools?: { cache_storage?: number } };
    const stored = tools?.cache_storage;
    return {
      verb: String(row["verb"]),
      key: String(row["key_id"]),
      cost: Number(row["cost_nano_usd"]),
      hours: stored === undefined ? undefined : Math.round((stored / 100_000) * 1000) / 1000,
    };
  });
}
const storageBills = async () => (await bills()).filter(({ hours }) => hours !== undefined);
const heldNanoUsd = () => harness.gateway.admissions.held.nanoUsd;

describe("decision 0110: the life of a cache", () => {
  test("it is created at the provider under the gateway's name, and the client sees only an id of the gateway", async () => {
    const cache = await created({ displayName: "My story", ttl: "7200s" });
    expect(cache.name).toMatch(/^cachedContents\/[0-9A-Za-z]{22}$/);
    expect(cache).toMatchObject({
      model: "models/test/cached",
      displayName: "My story",
      usageMetadata: { totalTokenCount: 100_000 },
    });
    expect(Date.parse(cache.expireTime) - machine.clock.wallMs()).toBeCloseTo(2 * HOUR_MS, -4);
    expect(host.caches[0]?.body).toMatchObject({
      model: "models/upstream-model",
      ttl: "7200.000s",
      displayName: `trivium-${cache.name.slice("cachedContents/".length)}`,
      ...content,
    });
    for (const answer of [
      await harness.ask("GET", `/v1beta/${cache.name}`),
      await harness.ask("GET", "/v1beta/cachedContents"),
      await harness.ask("GET", `/v1beta1/projects/p/locations/l/${cache.name}`),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.text).toContain(cache.name);
      expect(answer.text).not.toContain("host-");
    }
  });

  test("creating is billed as input, and storage for the time until the cache is deleted", async () => {
    const { name } = await created({ ttl: "36000s" });
    await after(2 * HOUR_MS);
    expect((await remove(name)).text).toBe("{}");
    expect(host.caches).toEqual([]);
    const [creation, storage, ...more] = await bills();
    expect(more).toEqual([]);
    expect(creation).toMatchObject({ verb: "caches", cost: TENTH });
    expect(storage).toMatchObject({ verb: "caches", hours: 2 });
    expect(storage?.cost).toBeCloseTo(2 * TENTH, -5);
    expect((await harness.ask("GET", `/v1beta/${name}`)).status).toBe(404);
    expect((await remove(name)).status).toBe(404);
  });

  test("an expired cache is gone at once, and its storage is billed to its expiry", async () => {
    const { name } = await created({ ttl: "3600s" });
    await after(HOUR_MS + 1000);
    expect((await harness.ask("GET", `/v1beta/${name}`)).status).toBe(404);
    expect((await generate(name)).status).toBe(400);
    await after(HOUR_MS);
    await keep();
    await keep();
    expect(await storageBills()).toMatchObject([{ hours: 1 }]);
    expect(heldNanoUsd()).toBe(0);
    expect(await machine.storage.query("SELECT id FROM objects")).toEqual([]);
  });

  test("another lifetime bills the storage so far and begins anew", async () => {
    const { name } = await created({ ttl: "3600s" });
    await after(HOUR_MS / 2);
    const answer = await patch(name, { ttl: "7200s" });
    expect(answer.status).toBe(200);
    expect(await storageBills()).toMatchObject([{ hours: 0.5 }]);
    await after(HOUR_MS * 3);
    await keep();
    expect(await storageBills()).toMatchObject([{ hours: 0.5 }, { hours: 2 }]);
    expect(host.asked).toContain("PATCH /v1beta/cachedContents/host-1");
  });

  test("a cache that its provider has lost is settled when somebody looks", async () => {
    const { name } = await created({ ttl: "36000s" });
    host.caches.length = 0;
    await after(HOUR_MS);
    await keep();
    expect(await storageBills()).toMatchObject([{ hours: 1 }]);
    expect((await harness.ask("GET", `/v1beta/${name}`)).status).toBe(404);
    const other = await created({ ttl: "36000s" });
    host.caches.length = 0;
    expect((await patch(other.name, { ttl: "60s" })).status).toBe(404);
  });

  test.each<[string, object, string]>([
    ["a ttl without its unit", { ttl: "3600" }, "ttl"],
    ["a ttl of nothing", { ttl: "0s" }, "ttl"],
    ["a ttl beyond a month", { ttl: "2678400s" }, "ttl"],
    ["a time in the past", { expireTime: "2001-01-01T00:00:00Z" }, "expireTime"],
    ["two lifetimes", { ttl: "60s", expireTime: "2031-01-01T00:00:00Z" }, "expireTime"],
    ["no content", { contents: undefined }, "contents"],
    ["a key of the operator's account", { kmsKeyName: "projects/p/keys/k" }, "kmsKeyName"],
  ])("%s is refused with its path, and creates nothing", async (_, more, path) => {
    const answer = await create(more);
    expect(answer.status).toBe(400);
    expect(errorOf(answer.text).message).toContain(path);
    expect(host.asked).toEqual([]);
    expect(await bills()).toEqual([]);
  });
});

describe("decision 0110: calls that read a cache", () => {
  test("go to the credential that holds it, and are billed for what is cached at the price of reading a cache", async () => {
    const { name } = await created();
    const holder = host.caches[0]?.key;
    for (let calls = 0; calls < 4; calls++) expect((await generate(name)).status).toBe(200);
    expect(host.calls.map(({ key }) => key)).toEqual(Array(4).fill(holder));
    expect(host.calls[0]?.body["cachedContent"]).toBe("cachedContents/host-1");
    const { cost } = (await bills()).at(-1) ?? {};
    // 100,000 tokens at 0.1 dollars, 10 at 1 and 5 at 2 per million.
    expect(cost).toBe(10_000_000 + 10_000 + 10_000);
  });

  test("have no fallback: if its credential fails, the call fails", async () => {
    const { name } = await created();
    const { upstream } = machine;
    upstream.play(upstream.json({ error: { code: 503, status: "UNAVAILABLE", message: "Overloaded." } }, 503));
    expect((await generate(name)).status).toBe(503);
    expect(new Set(upstream.requests.map(({ headers }) => headers["x-goog-api-key"])).size).toBe(1);
  });

  test("are accepted in the form of a cloud project, streamed as well", async () => {
    const { name } = await created();
    expect((await generate(`projects/undefined/locations/undefined/${name}`)).status).toBe(200);
    expect(host.calls[0]?.body["cachedContent"]).toBe("cachedContents/host-1");
  });

  test("never show the provider's id, not even in its errors", async () => {
    const { name } = await created();
    host.caches.length = 0;
    const answer = await generate(name);
    expect(answer.status).toBe(400);
    expect(errorOf(answer.text).message).toContain(name);
    expect(answer.text).not.toContain("host-1");
  });

  test("decision 0036: a cache that its provider has lost does not make its credential suspect", async () => {
    const { name } = await created();
    host.caches.length = 0;
    for (let calls = 0; calls < 20; calls++) expect((await generate(name)).status).toBe(400);
    const plain = await harness.ask("POST", "/v1beta/models/test/other:generateContent", TEST_KEY, content);
    expect(plain.status).toBe(200);
    const { offers } = await harness.receipt(plain);
    expect(offers).toMatchObject([{ outcome: "answered" }]);
  });

  test("must name its model; elsewhere the error names cache_control", async () => {
    const { name } = await created();
    for (const other of ["test/other", "test/chat"]) {
      const answer = await generate(name, {}, TEST_KEY, other);
      expect(answer.status).toBe(400);
      expect(errorOf(answer.text).message).toStartWith("cachedContent");
      expect(errorOf(answer.text).message).toContain("cache_control");
    }
    const elsewhere = await create({ model: "models/test/chat" });
    expect(elsewhere.status).toBe(400);
    expect(errorOf(elsewhere.text).message).toContain("cache_control");
    expect(host.calls).toEqual([]);
  });

  test("cannot name it anywhere else", async () => {
    const { name } = await created();
    const counted = await harness.ask("POST", "/v1beta/models/test/cached:countTokens", TEST_KEY, {
      generateContentRequest: { contents: content.contents, cachedContent: name },
    });
    expect(counted.status).toBe(400);
    expect(errorOf(counted.text).message).toContain("generateContentRequest.cachedContent");
    expect(host.calls).toEqual([]);
  });

  test("reserve what is cached, although the request does not contain it", async () => {
    const { name } = await created({ ttl: "60s" });
    // 0.5 dollars: a call may cost up to 0.01 for the cache and 0.002 for the response.
    for (let calls = 0; calls < 40; calls++) expect((await generate(name, {}, LIMITED)).status).toBe(200);
    const spent = (await bills()).filter(({ verb }) => verb === "generate").reduce((sum, { cost }) => sum + cost, 0);
    expect(spent).toBeLessThanOrEqual(500_000_000);
    for (let calls = 0; calls < 20; calls++) await generate(name, {}, LIMITED);
    const all = (await bills()).filter(({ verb }) => verb === "generate").reduce((sum, { cost }) => sum + cost, 0);
    expect(all).toBeLessThanOrEqual(500_000_000);
    expect((await generate(name, {}, LIMITED)).status).toBe(402);
  });

  test("H26: a call that breaks off before its usage is billed for what is cached, too", async () => {
    const { name } = await created();
    const { upstream } = machine;
    upstream.play(
      upstream.brokenStream('data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}]}\n\n', 50),
    );
    await harness.ask("POST", "/v1beta/models/test/cached:streamGenerateContent?alt=sse", TEST_KEY, {
      ...content,
      cachedContent: name,
    });
    expect((await bills()).at(-1)?.cost).toBeGreaterThanOrEqual(10_000_000);
  });
});

describe("S09: whose caches they are", () => {
  test("keys of the project share a cache, others have none", async () => {
    const { name } = await created();
    expect((await generate(name, {}, COLLEAGUE)).status).toBe(200);
    expect((await harness.ask("GET", `/v1beta/${name}`, COLLEAGUE)).status).toBe(200);
    for (const [method, body] of [["GET"], ["PATCH", { ttl: "60s" }], ["DELETE"]] as const) {
      expect((await harness.ask(method, `/v1beta/${name}`, STRANGER, body)).status).toBe(404);
    }
    const answer = await generate(name, {}, STRANGER);
    expect(answer.status).toBe(400);
    expect(errorOf(answer.text).message).toContain("cachedContent");
    expect((await harness.ask("GET", "/v1beta/cachedContents", STRANGER)).text).toBe('{"cachedContents":[]}');
    expect(host.caches.length).toBe(1);
  });

  test("only its key can use a private cache", async () => {
    const { name } = await created({}, PRIVATE);
    expect((await harness.ask("GET", `/v1beta/${name}`, TEST_KEY)).status).toBe(404);
    expect((await patch(name, { ttl: "60s" }, TEST_KEY)).status).toBe(404);
    expect((await remove(name, TEST_KEY)).status).toBe(404);
    expect((await generate(name, {}, TEST_KEY)).status).toBe(400);
    expect((await generate(name, {}, ALLOWED)).status).toBe(400);
    expect((await harness.ask("GET", "/v1beta/cachedContents", TEST_KEY)).text).toBe('{"cachedContents":[]}');
    expect((await generate(name, {}, PRIVATE)).status).toBe(200);
  });

  test("the parent of a child key deletes what the child stored, and cannot use it", async () => {
    const made = await harness.post("/api/v1/keys", { name: "child" });
    const { key } = (JSON.parse(made.text) as { data: { key: string } }).data;
    const { name } = await created({}, key);
    expect((await generate(name)).status).toBe(400);
    expect((await harness.ask("GET", `/v1beta/${name}`)).status).toBe(404);
    expect((await remove(name, COLLEAGUE)).status).toBe(404);
    expect((await remove(name)).status).toBe(200);
    expect(host.caches).toEqual([]);
  });

  test("ids of the provider are refused, unless the key may name its objects", async () => {
    expect((await generate("cachedContents/raw")).status).toBe(400);
    expect(host.calls).toEqual([]);
    await generate("cachedContents/raw", {}, ALLOWED);
    expect(host.calls.at(-1)?.body["cachedContent"]).toBe("cachedContents/raw");
    expect((await harness.ask("GET", "/v1beta/cachedContents/raw", ALLOWED)).status).toBe(404);
  });

  test("pages of a list follow each other", async () => {
    const names = [await created(), await created(), await created()].map(({ name }) => name);
    const page = async (query: string) =>
      JSON.parse((await harness.ask("GET", `/v1beta/cachedContents?pageSize=2${query}`)).text) as {
        cachedContents: CacheView[];
        nextPageToken?: string;
      };
    const first = await page("");
    const second = await page(`&pageToken=${first.nextPageToken}`);
    const listed = [...first.cachedContents, ...second.cachedContents].map(({ name }) => name);
    expect(listed.toSorted()).toEqual(names.toSorted());
    expect(second.nextPageToken).toBeUndefined();
  });
});

describe("decision 0083, decision 0110: what storage may cost", () => {
  test("the whole lifetime is held, and what was not used is given back", async () => {
    const { name } = await created({ ttl: "14400s" }, LIMITED);
    // 0.1 dollars are spent for the input, 0.4 are held for four hours of storage: nothing is left.
    expect((await generate(name, {}, LIMITED)).status).toBe(402);
    await after(HOUR_MS);
    expect((await patch(name, { ttl: "60s" }, LIMITED)).status).toBe(200);
    expect((await remove(name, LIMITED)).status).toBe(200);
    expect(heldNanoUsd()).toBe(0);
    expect((await create({ ttl: "3600s" }, LIMITED)).status).toBe(200);
  });

  test("a lifetime beyond the budget is refused, when it is set and when it is changed", async () => {
    host.tokens = 100_000;
    expect((await create({ ttl: "36000s", contents: long(100_000) }, LIMITED)).status).toBe(402);
    expect(host.asked).toEqual([]);
    const { name } = await created({ ttl: "3600s" }, LIMITED);
    expect((await patch(name, { ttl: "36000s" }, LIMITED)).status).toBe(402);
    expect(host.asked.some((asked) => asked.startsWith("PATCH"))).toBe(false);
    expect((await patch(name, { ttl: "7200s" }, LIMITED)).status).toBe(200);
    expect(heldNanoUsd()).toBeCloseTo(2 * TENTH, -5);
  });

  test("content that turns out larger than the budget allows is not stored", async () => {
    host.tokens = 900_000;
    const answer = await create({ ttl: "3600s" }, LIMITED);
    expect(answer.status).toBe(402);
    expect(host.caches).toEqual([]);
    expect(heldNanoUsd()).toBe(0);
    expect((await harness.ask("GET", "/v1beta/cachedContents", LIMITED)).text).toBe('{"cachedContents":[]}');
  });

  test("whoever extends a cache pays for it from then on", async () => {
    const { name } = await created({ ttl: "7200s" });
    await after(HOUR_MS);
    expect((await patch(name, { ttl: "36000s" }, LIMITED)).status).toBe(402);
    expect((await patch(name, { ttl: "10800s" }, LIMITED)).status).toBe(200);
    await after(4 * HOUR_MS);
    await keep();
    const [first, second] = await storageBills();
    expect([first?.hours, second?.hours]).toEqual([1, 3]);
    expect(first?.key).not.toBe(second?.key);
  });

  test("without a price it is refused where money is limited, and marked elsewhere", async () => {
    const refused = await create({ model: "models/test/unpriced" }, LIMITED);
    expect(refused.status).toBe(400);
    expect(errorOf(refused.text).message).toContain("cache_storage");
    expect(errorOf(refused.text).message).toContain("perMTokenHours");
    const { name } = await created({ model: "models/test/unpriced", ttl: "7200s" });
    await after(HOUR_MS);
    await remove(name);
    const receipt = (await harness.receipts()).at(-1);
    expect(receipt).toMatchObject({ unpriced: ["cache_storage"], cost_nano_usd: 0 });
  });

  test("tools of a cache are billed by the calls that use it, or refused with it", async () => {
    const tools = [{ retrieval: { disableAttribution: true } }];
    expect((await create({ tools }, LIMITED)).status).toBe(400);
    const { name } = await created({ tools });
    const answer = await generate(name, {}, LIMITED);
    expect(answer.status).toBe(400);
    expect(errorOf(answer.text).message).toContain("cachedContent");
  });

  test("storage is billed by an estimate if the provider does not report its size", async () => {
    host.tokens = undefined;
    const { usageMetadata, name } = await created({ contents: long(5_000), ttl: "7200s" });
    expect(usageMetadata.totalTokenCount).toBeGreaterThan(1_000);
    await after(HOUR_MS);
    await remove(name);
    expect((await storageBills())[0]?.cost).toBeGreaterThan(0);
  });

  test("of processes that share budgets one holds it, and another one takes over when that has ended", async () => {
    await created({ ttl: "14400s" });
    const held = heldNanoUsd();
    const process = { id: "instance_test", place: "here", process: "", startedAtMs: 1, shares: "redis" };
    await insertInstance(machine.storage, process);
    const second = (await Harness.start({ config: CONFIG, machine })).gateway;
    const other = new CacheKeeper({ ...second, instance: "instance_other", sharedLimits: {} as never });
    await harness.clock.until(other.holdAll());
    expect(second.admissions.held.nanoUsd).toBe(0);
    await deleteInstance(machine.storage, process.id);
    await harness.clock.until(other.holdAll());
    expect(second.admissions.held.nanoUsd).toBe(held);
  });

  test("the budget is held again after a restart", async () => {
    await created({ ttl: "14400s" }, LIMITED);
    const held = heldNanoUsd();
    await start();
    expect(heldNanoUsd()).toBe(0);
    await keep();
    expect(heldNanoUsd()).toBe(held);
  });
});

const long = (words: number) => [{ role: "user", parts: [{ text: "word ".repeat(words) }] }];

describe("H24: failures", () => {
  test("a key that may not spend any more ends its caches", async () => {
    const made = await harness.post("/api/v1/keys", { name: "child" });
    const { key, id } = (JSON.parse(made.text) as { data: { key: string; id: string } }).data;
    await created({ ttl: "36000s" }, key);
    await after(HOUR_MS);
    expect((await harness.ask("DELETE", `/api/v1/keys/${id}`)).status).toBe(200);
    await keep();
    expect(host.caches).toEqual([]);
    expect(await storageBills()).toMatchObject([{ hours: 1 }]);
  });

  test("a cache that the provider cannot delete stays, and is billed until it can", async () => {
    const { upstream } = machine;
    const { name } = await created({ ttl: "36000s" });
    host.next.push(upstream.json({ error: { code: 500, status: "INTERNAL", message: "host-1 broke" } }, 500));
    const answer = await remove(name);
    expect(answer.status).toBe(502);
    expect(answer.text).not.toContain("host-1");
    expect((await harness.ask("GET", `/v1beta/${name}`)).status).toBe(200);
    expect(await storageBills()).toEqual([]);
    expect((await remove(name)).status).toBe(200);
  });

  test("a creation whose answer is lost is found by its name, deleted and billed", async () => {
    host.next.push(host.loseAnswer, host.loseAnswer, host.loseAnswer, host.loseAnswer);
    expect((await create({ ttl: "36000s" })).status).toBe(502);
    expect(host.caches.length).toBeGreaterThan(0);
    expect(heldNanoUsd()).toBeGreaterThan(0);
    expect((await harness.ask("GET", "/v1beta/cachedContents")).text).toBe('{"cachedContents":[]}');
    host.next.length = 0;
    await keep();
    expect(host.caches.length).toBeGreaterThan(0);
    await after(HOUR_MS);
    await keep();
    expect(host.caches).toEqual([]);
    expect((await storageBills())[0]).toMatchObject({ hours: 1 });
    expect(heldNanoUsd()).toBe(0);
    expect(await machine.storage.query("SELECT id FROM objects")).toEqual([]);
  });

  test("a creation that the provider rejects leaves nothing, and the next credential is tried where that helps", async () => {
    const { upstream } = machine;
    host.next.push(upstream.json({ error: { code: 400, status: "INVALID_ARGUMENT", message: "Too small." } }, 400));
    expect((await create()).status).toBe(400);
    expect(await machine.storage.query("SELECT id FROM objects")).toEqual([]);
    host.next.push(upstream.json({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Slow down." } }, 429));
    const { name } = await created();
    expect((await generate(name)).status).toBe(200);
  });

  test("two requests that end a cache bill it once", async () => {
    const { name } = await created({ ttl: "36000s" });
    await after(HOUR_MS);
    const answers = await Promise.all([remove(name), remove(name), keep().then(() => undefined)]);
    expect(answers.map((answer) => answer?.status).toSorted()).toContain(200);
    expect((await storageBills()).length).toBe(1);
    expect(heldNanoUsd()).toBe(0);
  });

  test("a cache whose credential is no longer configured cannot be read, and ends with its lifetime", async () => {
    const { name } = await created({ ttl: "7200s" });
    const { google: _google, ...providers } = CONFIG.providers;
    const models = CONFIG.models.filter(({ id }) => id === "test/cached" || id === "test/chat");
    const left = models.map((one) => ({ ...one, offers: one.offers.filter(({ provider }) => provider !== "google") }));
    harness = await Harness.start({ config: { ...CONFIG, providers, models: left }, machine });
    keeper = new CacheKeeper(harness.gateway);
    expect((await generate(name)).status).toBe(400);
    expect((await remove(name)).status).toBe(502);
    await after(3 * HOUR_MS);
    await keep();
    expect(await storageBills()).toMatchObject([{ hours: 2 }]);
  });

  test("files of the gateway are put into the cache as content", async () => {
    const form = new FormData();
    form.append("file", new Blob(["The harbour opens at nine."], { type: "text/plain" }), "notes.txt");
    form.append("purpose", "user_data");
    const uploaded = await harness.clock.until(harness.sendForm("/v1/files", form).answer);
    const id = (JSON.parse(uploaded.text) as { id: string }).id.replace("file-", "files/");
    await created({ contents: [{ role: "user", parts: [{ fileData: { fileUri: id, mimeType: "text/plain" } }] }] });
    expect(JSON.stringify(host.caches[0]?.body)).toContain(
      Buffer.from("The harbour opens at nine.").toString("base64"),
    );
    const missing = await create({
      contents: [{ role: "user", parts: [{ fileData: { fileUri: `files/${"x".repeat(22)}` } }] }],
    });
    expect(missing.status).toBe(400);
    expect(errorOf(missing.text).message).toContain("contents[0].parts[0]");
  });
});
