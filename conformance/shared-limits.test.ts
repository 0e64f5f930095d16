import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProject } from "../src/access/projects.ts";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import { startRedis, type TemporaryRedis } from "../testing/redis.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { callOnce, HoldingProvider, RACED_LIMITS, raceLine } from "./support/limit-race.ts";
import { programsPresent } from "./support/programs.ts";
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

/** Instances on one storage, with Redis where they are several. */
async function startInstances(
  count: number,
  limits: Readonly<Record<string, number>>,
  {
    level = "key",
    at = { redis, provider },
  }: { level?: "key" | "project" | "gateway"; at?: { redis: typeof redis; provider: HoldingProvider } } = {},
): Promise<TestGateway[]> {
  const number = ++started;
  const url = `sqlite:${join(folder, `${number}.db`)}`;
  if (level === "project") {
    const storage = await openStorage(url, system.clock);
    await createProject(storage, { id: "raced", limits }, system, { who: "test" });
    await storage.close();
  }
  const config = {
    ...scriptedModels(at.provider.url, { first_byte: 30_000, idle: 30_000 }),
    storage: url,
    keys: [{ name: "tests", key: TEST_KEY, project: "raced", ...(level === "key" && { limits }) }],
    ...(level === "gateway" && { limits }),
    ...(count > 1 && at.redis ? { redis: `${at.redis.url}/${number}` } : {}),
  };
  const instances: TestGateway[] = [];
  const timings = { limitLeaseMs: 3_000 };
  while (instances.length < count) instances.push(await startTestGateway({ config, timings }));
  return instances;
}

/** Until it holds; says how long that took. */
async function until(holds: () => Promise<boolean>, withinMs = 15_000): Promise<number> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > withinMs) throw new Error("it did not come to this in time");
    await Bun.sleep(20);
  }
  return performance.now() - began;
}

const stopAll = async (instances: readonly TestGateway[]) => {
  for (const gateway of instances) await gateway.stop();
};
const urlsOf = (instances: readonly TestGateway[]) => instances.map(({ url }) => url);

describe.skipIf(redis === undefined)("H23, choices 9: 2,000 calls at once against limits for fewer", () => {
  for (const [what, limits] of RACED_LIMITS) {
    test(`${what}: three instances admit no more than one does, and at least 98% of it`, async () => {
      const alone = await startInstances(1, limits);
      const one = await provider.race(urlsOf(alone), 2_000);
      await stopAll(alone);
      const three = await startInstances(3, limits);
      const many = await provider.race(urlsOf(three), 2_000);
      await stopAll(three);
      console.log(raceLine(what, one, many, "three instances"));
      expect(one).toBeGreaterThan(300);
      expect(many).toBeLessThanOrEqual(one);
      expect(many).toBeGreaterThanOrEqual(Math.floor(0.98 * one));
    });
  }
});

describe.skipIf(redis === undefined)("H23, choices 9: the same at the other levels", () => {
  for (const [level, what] of [
    ...RACED_LIMITS.map(([what]) => ["project", what] as const),
    ["gateway", "requests a minute"] as const,
  ]) {
    test(`${what} of the ${level}: three instances never admit more than one, and at least 98%`, async () => {
      const limits = RACED_LIMITS.find(([name]) => name === what)?.[1] ?? {};
      const alone = await startInstances(1, limits, { level });
      const one = await provider.race(urlsOf(alone), 2_000);
      await stopAll(alone);
      const three = await startInstances(3, limits, { level });
      const many = await provider.race(urlsOf(three), 2_000);
      await stopAll(three);
      console.log(raceLine(`${what} of the ${level}`, one, many, "three instances"));
      expect(one).toBeGreaterThan(300);
      expect(many).toBeLessThanOrEqual(one);
      expect(many).toBeGreaterThanOrEqual(Math.floor(0.98 * one));
    });
  }
});

describe.skipIf(redis === undefined)("choices 9, H29: Redis fails under load", () => {
  const readiness = async ({ url }: TestGateway) => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, ((await response.json()) as { status: string }).status] as const;
  };
  const LIMIT = 60;

  /** Sends calls without a pause while the work lasts; says how they ended. */
  async function underLoad(instances: readonly TestGateway[], work: () => Promise<void>) {
    const statuses = new Map<number, number>();
    let isOver = false;
    const callers = Array.from({ length: 6 }, async (_, at) => {
      while (!isOver) {
        const status = await callOnce(instances[at % instances.length]?.url ?? "");
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await Bun.sleep(10);
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
    // Each has servers of its own: they wait most of the time, so they run at the same time.
    test.concurrent(`${what}: calls are answered or refused by their limit, which holds; it heals`, async () => {
      const own = await startRedis();
      if (own === undefined) throw new Error("no server");
      const asked = new HoldingProvider();
      asked.release();
      servers.push(asked, own);
      const limits = { requests_per_minute: LIMIT, concurrent: 50 };
      const instances = await startInstances(2, limits, { at: { redis: own, provider: asked } });
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
      // Counted by whole seconds, of a minute that is not over.
      expect(admitted).toBeLessThanOrEqual(LIMIT);
      expect(admitted).toBeGreaterThanOrEqual(Math.floor(0.98 * LIMIT));
      expect(asked.asked).toBe(admitted);
      expect(degraded).toBe(what !== "flushed");
      for (const until = Date.now() + 10_000; Date.now() < until; await Bun.sleep(50)) {
        const words = await Promise.all(instances.map(readiness));
        if (words.every(([, word]) => word === "ready")) break;
      }
      for (const instance of instances) expect(await readiness(instance)).toEqual([200, "ready"]);
      await stopAll(instances);
    });
  }
});

describe.skipIf(redis === undefined)("choices 9: what one instance learns, the others know", () => {
  const admin = ({ adminUrl }: TestGateway, method: string, path: string, body?: object) =>
    fetch(`${adminUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  const models = ({ url }: TestGateway, key: string) =>
    fetch(`${url}/api/v1/generation?id=none`, { headers: { authorization: `Bearer ${key}` } });

  test("a key that is revoked at one is refused by all within a second", async () => {
    const instances = await startInstances(3, {});
    const [first] = instances;
    if (first === undefined) throw new Error("no gateway");
    const made = await admin(first, "POST", "/api/keys", { name: "short-lived" });
    const { data } = (await made.json()) as { data: { id: string; key: string } };
    const statusesOf = () => Promise.all(instances.map(async (one) => (await models(one, data.key)).status));
    await until(async () => !(await statusesOf()).includes(401));
    await admin(first, "DELETE", `/api/keys/${data.id}`);
    const tookMs = await until(async () => (await statusesOf()).every((status) => status === 401));
    console.log(`a revocation was seen by three instances after ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(1_000);
    await stopAll(instances);
  });

  test("a breaker that opens at one is open at the others", async () => {
    provider.release();
    const instances = await startInstances(2, {});
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
