import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProject } from "../src/access/projects.ts";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import { selectInstances } from "../src/storage/tables/instances.ts";
import { eventually } from "../testing/eventually.ts";
import { programsPresent } from "../testing/is-present.ts";
import { startRedis, type TemporaryRedis } from "../testing/redis.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { callOnce, HoldingProvider, RACED_LIMITS, raceLine } from "./support/limit-race.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

const redis = programsPresent("limits of several instances", "redis-server") ? await startRedis() : undefined;
const folder = mkdtempSync(join(tmpdir(), "trivium-shared-"));
const provider = new HoldingProvider();
const servers: { stop(): Promise<void> }[] = [provider, ...(redis ? [redis] : [])];
afterAll(async () => {
  for (const server of servers) await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

let started = 0;

type Limits = Readonly<Record<string, number>>;

interface Shared {
  keys: readonly {
    name: string;
    key: string;
    limits?: Limits;
    project?: string;
    limits_by_model?: Readonly<Record<string, Limits>>;
    routing?: object;
  }[];
  projects?: readonly { id: string; limits: Limits }[];
  /** Of the gateway. */
  limits?: Limits;
}

const keyWith = (limits: Limits): Shared => ({ keys: [{ name: "tests", key: TEST_KEY, limits }] });

/** Instances on one storage, with Redis if there are several. */
async function startInstances(
  count: number,
  { keys, projects = [], limits }: Shared,
  at: { redis: typeof redis; provider: HoldingProvider } = { redis, provider },
  models: object = scriptedModels(at.provider.url, { first_byte: 30_000, idle: 30_000 }),
  wallMs: () => number = system.clock.wallMs,
): Promise<TestGateway[]> {
  const number = ++started;
  const url = `sqlite:${join(folder, `${number}.db`)}`;
  if (projects.length > 0) {
    const storage = await openStorage(url, system.clock);
    for (const project of projects) await createProject(storage, project, system, { who: "test" });
    await storage.close();
  }
  const config = {
    ...models,
    storage: url,
    keys,
    ...(limits && { limits }),
    ...(count > 1 && at.redis ? { redis: `${at.redis.url}/${number}` } : {}),
  };
  const instances: TestGateway[] = [];
  const timings = { limitLeaseMs: 3_000 };
  while (instances.length < count) instances.push(await startTestGateway({ config, timings, wallMs }));
  return instances;
}

/** Waits until it holds, and returns how long that took. */
async function until(holds: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  await eventually("the instances to agree", holds);
  return performance.now() - began;
}

/**
 * When the last of these instances began to answer so, in milliseconds from now. A call counts from its start, and does not wait
 * for the one before: one that is refused for lack of a share waits for one first.
 */
async function untilAll(
  instances: readonly TestGateway[],
  status: number,
  statusAt: (instance: TestGateway) => Promise<number>,
): Promise<number> {
  const began = performance.now();
  const starts = instances.map(async (instance) => {
    let firstMs: number | undefined;
    const call = async () => {
      const startMs = performance.now() - began;
      if ((await statusAt(instance)) === status) firstMs ??= startMs;
    };
    const calls: Promise<void>[] = [];
    await until(async () => {
      calls.push(call());
      return firstMs !== undefined;
    });
    await Promise.all(calls);
    return firstMs ?? Number.POSITIVE_INFINITY;
  });
  return Math.max(...(await Promise.all(starts)));
}

const stopAll = async (instances: readonly TestGateway[]) => {
  for (const gateway of instances) await gateway.stop();
};
const urlsOf = (instances: readonly TestGateway[]) => instances.map(({ url }) => url);

/** The same limits for one instance and for three, with one race after another at both. */
class Races {
  #alone: TestGateway[] = [];
  #three: TestGateway[] = [];

  async start(shared: Shared): Promise<void> {
    this.#alone = await startInstances(1, shared);
    this.#three = await startInstances(3, shared);
  }

  /** The first race compiles the program, while calls wait for half a second of wall-clock time. */
  async warmUp(key: string): Promise<void> {
    for (const instances of [this.#alone, this.#three]) await provider.race(urlsOf(instances), 2_000, key);
  }

  async stop(): Promise<void> {
    await stopAll([...this.#alone, ...this.#three]);
  }

  async expectSame(what: string, key?: string): Promise<void> {
    const one = await provider.race(urlsOf(this.#alone), 2_000, key);
    const many = await provider.race(urlsOf(this.#three), 2_000, key);
    console.log(raceLine(what, one, many, "three instances"));
    expect(one).toBeGreaterThan(300);
    expect(one).toBeLessThan(900);
    expect(many).toBeLessThanOrEqual(one);
    expect(many).toBeGreaterThanOrEqual(Math.floor(0.98 * one));
  }
}

describe.skipIf(redis === undefined)("H23, choices 9: 2,000 concurrent calls against limits for fewer", () => {
  const races = new Races();
  const keyOf = (name: string) => ({ name, key: `sk-trv-${name}-`.padEnd(50, "x") });
  const warm = keyOf("warm");
  const raced = RACED_LIMITS.map(([what, limits], at) => {
    return {
      what,
      limits,
      key: keyOf(`key-${at}`),
      project: { id: `project-${at}`, limits },
      inside: keyOf(`in-${at}`),
    };
  });

  // The same instances for all races: each has its own key or project.
  beforeAll(async () => {
    if (redis === undefined) return;
    await races.start({
      keys: [
        { ...warm, limits: { concurrent: 500 } },
        ...raced.flatMap(({ key, limits, project, inside }) => [
          { ...key, limits },
          { ...inside, project: project.id },
        ]),
      ],
      projects: raced.map(({ project }) => project),
    });
    await races.warmUp(warm.key);
  }, 180_000);
  afterAll(() => races.stop());

  for (const { what, key } of raced) {
    test(`${what}: three instances admit no more than one does, and at least 98% of it`, async () => {
      await races.expectSame(what, key.key);
    });
  }

  for (const { what, inside } of raced) {
    test(`${what} of the project: three instances never admit more than one, and at least 98%`, async () => {
      await races.expectSame(`${what} of the project`, inside.key);
    });
  }
});

describe.skipIf(redis === undefined)("H23, choices 9: the same at the level above", () => {
  test("requests a minute of the gateway: three instances never admit more than one, and at least 98%", async () => {
    const races = new Races();
    await races.start({ keys: [{ name: "tests", key: TEST_KEY }], limits: { requests_per_minute: 500 } });
    await races.expectSame("requests a minute of the gateway");
    await races.stop();
  });
});

describe.skipIf(redis === undefined)("H58: the limit of a model that calls fall back to", () => {
  test.each([
    ["calls of a day", { requests_per_day: 60 }],
    ["calls of a minute", { requests_per_minute: 60 }],
  ])(
    "%s: three instances never exceed it together, and use at least 98%",
    async (_, limits) => {
      const scripted = scriptedModels(provider.url, { first_byte: 30_000, idle: 30_000 });
      const [model] = scripted["models"] as { offers: object[] }[];
      const models = {
        providers: {
          ...(scripted["providers"] as object),
          // Nothing listens there.
          "up-gone": { kind: "openai-compatible", base_url: "http://127.0.0.1:1/v1", api_key: "upstream-secret" },
        },
        models: [
          { ...model, offers: [{ provider: "up-gone", model: "upstream-model" }] },
          { ...model, id: "test/other" },
        ],
      };
      const key = { name: "tests", key: TEST_KEY, limits_by_model: { "test/other": limits } };
      const keys = [{ ...key, routing: { fallback: "test/other" } }];
      const instances = await startInstances(3, { keys }, undefined, models);
      const admitted = await provider.race(urlsOf(instances), 240);
      expect(admitted).toBeLessThanOrEqual(60);
      expect(admitted).toBeGreaterThanOrEqual(0.98 * 60);
      await stopAll(instances);
    },
    60_000,
  );
});

describe.skipIf(redis === undefined)("H23, choices 9: a budget smaller than one reservation per instance", () => {
  /** Calls of 0.006 USD with an output price of 200. */
  const dear = (completion: number) => {
    const scripted = scriptedModels(provider.url, { first_byte: 30_000, idle: 30_000 });
    const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
    const pricings = { prompt: price(400), completion: price(completion) };
    return { ...scripted, models: (scripted["models"] as object[]).map((model) => ({ ...model, pricings })) };
  };
  const call = async ({ url }: TestGateway, limit: object): Promise<{ status: number; text: string }> => {
    const body = { model: "test/chat", messages: [{ role: "user", content: "Is it so?" }], ...limit };
    const headers = { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" };
    const answer = await fetch(`${url}/api/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const start = (count: number, completion: number) =>
    startInstances(count, keyWith({ budget_usd_per_day: 0.1 }), undefined, dear(completion));

  for (const [what, limit, completion] of [
    ["for which 0.043 USD are reserved", { max_completion_tokens: 200 }, 200],
    ["without an output limit, which may cost more than the budget", {}, 19],
  ] as const) {
    test(`three instances answer as many calls as one does, one after another: calls ${what}`, async () => {
      provider.release();
      const answered: number[] = [];
      for (const count of [1, 3]) {
        const instances = await start(count, completion);
        let answers = 0;
        for (let index = 0; index < 24; index++) {
          const at = instances[index % count];
          if (at === undefined) throw new Error("no gateway");
          const { status, text } = await call(at, limit);
          if (status === 200) answers++;
          else expect(status).toBe(402);
          // One process knows of the others' spending only what the ledger told it.
          if (status === 402 && count > 1) {
            expect(text).not.toMatch(/: \S+ USD spent/);
            expect(Number(/at least (\S+) USD spent/.exec(text)?.[1] ?? 0)).toBeLessThanOrEqual(answers * 0.006);
            expect(text).toContain("It resets at ");
          }
        }
        answered.push(answers);
        await stopAll(instances);
      }
      console.log(`calls ${what}: one process answers ${answered[0]}, three instances ${answered[1]}`);
      expect(answered[0]).toBeGreaterThan(3);
      expect(answered[1]).toBe(answered[0] ?? 0);
    });
  }

  test("three clients at three instances use it up until no further call fits", async () => {
    provider.release();
    const instances = await start(3, 200);
    const statuses: number[] = [];
    const clients = instances.map(async (instance) => {
      for (let index = 0; index < 8; index++)
        statuses.push((await call(instance, { max_completion_tokens: 200 })).status);
    });
    await Promise.all(clients);
    const answers = statuses.filter((status) => status === 200).length;
    console.log(`three clients: ${answers} of 24 answered`);
    expect(answers).toBeGreaterThanOrEqual(9);
    expect(statuses.every((status) => status === 200 || status === 402)).toBe(true);
    await stopAll(instances);
  });
});

describe.skipIf(redis === undefined)("choices 9, H29: Redis fails under load", () => {
  const readiness = async ({ url }: TestGateway) => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, ((await response.json()) as { status: string }).status] as const;
  };
  const LIMIT = 60;

  /** Sends calls without a pause during the work; returns how they ended. */
  async function underLoad(instances: readonly TestGateway[], work: () => Promise<void>) {
    const statuses = new Map<number, number>();
    let isOver = false;
    const callers = Array.from({ length: 6 }, async (_, at) => {
      while (!isOver) {
        const status = await callOnce(instances[at % instances.length]?.url ?? "");
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await Bun.sleep(20);
      }
    });
    await work();
    isOver = true;
    await Promise.all(callers);
    return statuses;
  }

  type Act = (redis: TemporaryRedis) => unknown;
  const faults: readonly [what: string, begin: Act, end?: Act][] = [
    ["stopped", (own) => own.halt(), (own) => own.start()],
    ["frozen", (own) => own.freeze(), (own) => own.thaw()],
    ["flushed", (own) => own.flush()],
  ];
  for (const [what, begin, end] of faults) {
    // Each has its own servers: they mostly wait, so they run concurrently.
    test.concurrent(`${what}: calls are answered or refused by their limit, which holds; it recovers`, async () => {
      const own = await startRedis();
      if (own === undefined) throw new Error("no server");
      const asked = new HoldingProvider();
      asked.release();
      servers.push(asked, own);
      const limits = { requests_per_minute: LIMIT, concurrent: 50 };
      const instances = await startInstances(2, keyWith(limits), { redis: own, provider: asked });
      let degraded = false;
      const statuses = await underLoad(instances, async () => {
        await Bun.sleep(300);
        await begin(own);
        for (const until = Date.now() + 6_000; Date.now() < until; await Bun.sleep(100)) {
          for (const instance of instances) {
            const [status, word] = await readiness(instance);
            expect(status).toBe(200);
            degraded ||= word === "degraded";
          }
        }
        await end?.(own);
      });
      expect([...statuses.keys()].sort()).toEqual([200, 429]);
      const admitted = statuses.get(200) ?? 0;
      // Counted in whole seconds of a minute that has not ended.
      expect(admitted).toBeLessThanOrEqual(LIMIT);
      expect(admitted).toBeGreaterThanOrEqual(Math.floor(0.98 * LIMIT));
      expect(asked.asked).toBe(admitted);
      expect(degraded).toBe(what !== "flushed");
      await eventually("all to be ready", async () => {
        const words = await Promise.all(instances.map(readiness));
        return words.every(([, word]) => word === "ready");
      });
      for (const instance of instances) expect(await readiness(instance)).toEqual([200, "ready"]);
      await stopAll(instances);
    });
  }
});

describe.skipIf(redis === undefined)("choices 9: changes at one instance reach the others", () => {
  const admin = ({ adminUrl }: TestGateway, method: string, path: string, body?: object) =>
    fetch(`${adminUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  const models = ({ url }: TestGateway, key: string) =>
    fetch(`${url}/api/v1/generation?id=none`, { headers: { authorization: `Bearer ${key}` } });

  test("a key revoked at one instance is refused by all within a second", async () => {
    const instances = await startInstances(3, keyWith({}));
    const [first] = instances;
    if (first === undefined) throw new Error("no gateway");
    const made = await admin(first, "POST", "/api/keys", { name: "short-lived" });
    const { data } = (await made.json()) as { data: { id: string; key: string } };
    const statusAt = async (one: TestGateway) => (await models(one, data.key)).status;
    await until(async () => !(await Promise.all(instances.map(statusAt))).includes(401));
    await admin(first, "DELETE", `/api/keys/${data.id}`);
    const tookMs = await untilAll(instances, 401, statusAt);
    console.log(`a revocation was seen by three instances after ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(1_000);
    await stopAll(instances);
  });

  test("H44: a budget raised at one instance applies at all within a second", async () => {
    provider.release();
    const instances = await startInstances(3, keyWith({}));
    const [first] = instances;
    if (first === undefined) throw new Error("no gateway");
    const limits = { budget_usd_total: 0.00003 };
    const made = await admin(first, "POST", "/api/keys", { name: "raised", limits });
    const { data } = (await made.json()) as { data: { id: string; key: string } };
    const statusAt = ({ url }: TestGateway) => callOnce(url, data.key);
    await untilAll(instances, 402, statusAt);
    const raised = { limits: { budget_usd_total: 1 } };
    expect((await admin(first, "PATCH", `/api/keys/${data.id}`, raised)).status).toBe(200);
    const tookMs = await untilAll(instances, 200, statusAt);
    console.log(`a raised budget held at three instances after ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(1_000);
    await stopAll(instances);
  });

  /** Calls each instance in turn until all of them refuse; returns how many calls were answered. */
  const spendAll = async (instances: readonly TestGateway[], key: string): Promise<number> => {
    let answered = 0;
    for (let refused = 0; refused < 2 * instances.length; ) {
      const at = instances[(answered + refused) % instances.length];
      const status = await callOnce(at?.url ?? "", key);
      expect([200, 402]).toContain(status);
      if (status === 200) answered++;
      refused = status === 200 ? 0 : refused + 1;
    }
    return answered;
  };

  test("H44: a used-up daily budget is reset at all instances by the next day, once for all together", async () => {
    provider.release();
    // Noon of the next day: no other day begins during the test.
    const dayMs = 24 * 3_600_000;
    let aheadMs = 1.5 * dayMs - (Date.now() % dayMs);
    const calls = 9;
    const instances = await startInstances(
      3,
      keyWith({ budget_usd_per_day: calls * 0.00003 }),
      undefined,
      undefined,
      () => Date.now() + aheadMs,
    );
    for (const day of ["first", "second", "third"]) {
      let answered = 0;
      const tookMs = await until(async () => {
        const statuses = await Promise.all(instances.map(({ url }) => callOnce(url, TEST_KEY)));
        answered += statuses.filter((status) => status === 200).length;
        return !statuses.includes(402);
      });
      console.log(`three instances answered on the ${day} day after ${Math.round(tookMs)} ms`);
      expect(tookMs).toBeLessThan(1_000);
      answered += await spendAll(instances, TEST_KEY);
      expect([day, answered]).toEqual([day, calls]);
      aheadMs += dayMs;
    }
    await stopAll(instances);
  });

  test("H30: three instances whose clock was set back before they started keep a budget from their first call on", async () => {
    provider.release();
    const dayMs = 24 * 3_600_000;
    // Noon of the day before: earlier than the start of this process, and no other day begins during the test.
    const behindMs = 0.5 * dayMs + (Date.now() % dayMs);
    const wallMs = () => Date.now() - behindMs;
    const calls = 9;
    const limits = keyWith({ budget_usd_per_day: calls * 0.00003 });
    const instances = await startInstances(3, limits, undefined, undefined, wallMs);
    // No instance took another for dead and removed its row: its share would be given away while still in use.
    const storage = await openStorage(`sqlite:${join(folder, `${started}.db`)}`, system.clock);
    expect(await selectInstances(storage)).toHaveLength(3);
    await storage.close();
    expect(await spendAll(instances, TEST_KEY)).toBe(calls);
    await stopAll(instances);
  });

  test("H44: a budget removed at one instance stops applying within a second, and one that is set again counts what was spent", async () => {
    provider.release();
    const instances = await startInstances(3, keyWith({}));
    const [first] = instances;
    if (first === undefined) throw new Error("no gateway");
    const limits = { budget_usd_total: 3 * 0.00003 };
    const made = await admin(first, "POST", "/api/keys", { name: "reset", limits });
    const { data } = (await made.json()) as { data: { id: string; key: string } };
    const statusAt = ({ url }: TestGateway) => callOnce(url, data.key);
    await until(async () => !(await Promise.all(instances.map(statusAt))).includes(401));
    await spendAll(instances, data.key);
    const change = (limits: object) => admin(first, "PATCH", `/api/keys/${data.id}`, { limits });
    expect((await change({ budget_usd_total: null })).status).toBe(200);
    const tookMs = await untilAll(instances, 200, statusAt);
    expect(tookMs).toBeLessThan(1_000);
    expect((await change(limits)).status).toBe(200);
    const againMs = await untilAll(instances, 402, statusAt);
    console.log(`a removed budget after ${Math.round(tookMs)} ms, one set again after ${Math.round(againMs)} ms`);
    expect(againMs).toBeLessThan(1_000);
    await stopAll(instances);
  });

  test("a breaker that opens at one instance is open at the others", async () => {
    provider.release();
    const instances = await startInstances(2, keyWith({}));
    const [first, second] = instances;
    if (first === undefined || second === undefined) throw new Error("no gateway");
    const statesAt = async (gateway: TestGateway) => await (await admin(gateway, "GET", "/api/providers")).text();
    expect(await statesAt(second)).not.toContain('"open"');
    provider.fails = true;
    for (let calls = 0; calls < 12; calls++) await callOnce(first.url);
    expect(await statesAt(first)).toContain('"open"');
    const tookMs = await until(async () => (await statesAt(second)).includes('"open"'));
    console.log(`a breaker was open at the other instance after ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(2_000);
    provider.fails = false;
    await stopAll(instances);
  });
});
