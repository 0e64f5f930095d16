import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../testing/free-port.ts";
import { isPresent } from "../../testing/is-present.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { startRedis } from "../../testing/redis.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { CrashingGateway } from "../crashes/crashing-gateway.ts";
import { BatchClient } from "../support/batch-client.ts";
import { BatchProvider } from "../support/batch-provider.ts";
import { makeDatabase, postgresServer } from "../support/postgres-database.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const [postgres, redis] = await Promise.all([
  postgresServer === undefined ? startPostgres() : makeDatabase(),
  startRedis(),
]);
const arePresent = isPresent(
  postgres !== undefined && redis !== undefined,
  "batches at several instances: PostgreSQL or Redis not installed",
);

const MAX_CONCURRENT = 6;
const BUDGET_KEY = "sk-trv-budget-".padEnd(50, "x");
const STOPPED_KEY = "sk-trv-stopped-".padEnd(50, "x");
const KEYS = [
  { name: "tests", key: TEST_KEY },
  { name: "stopped", key: STOPPED_KEY, limits: { budget_usd_total: 0.5 } },
  { name: "budget", key: BUDGET_KEY, limits: { budget_usd_total: 0.5 } },
];

const folder = mkdtempSync(join(tmpdir(), "trivium-batch-instances-"));
const provider = new BatchProvider();
const makeInstance = (name: string, files: string, maxConcurrent: number) => {
  mkdirSync(join(folder, name));
  const models = scriptedModels(provider.url, { first_byte: 60_000, idle: 60_000 });
  const providers = models["providers"] as Record<string, object>;
  return new CrashingGateway({
    folder: join(folder, name),
    workers: 0,
    config: {
      ...models,
      // Shows the provider which instance asks.
      providers: { ...providers, "up-chat": { ...providers["up-chat"], api_key: `key-of-${name}` } },
      server: { port: freePort() },
      admin: { port: freePort(), secret: TEST_ADMIN_SECRET },
      storage: String(postgres?.url ?? ""),
      redis: redis?.url ?? "",
      files: join(folder, files),
      batch: { max_concurrent: maxConcurrent },
      simulator: false,
      log: { calls: "off" },
    },
  });
};
const instances = ["one", "two", "three"].map((name) => makeInstance(name, "files", MAX_CONCURRENT));
const urlOf = (index: number): string => instances[index % instances.length]?.url ?? "";

beforeAll(async () => {
  if (!arePresent) return;
  for (const instance of instances) await instance.start(KEYS);
}, 120_000);
beforeEach(() => {
  provider.forget();
  provider.delayMs = 10;
});
afterAll(async () => {
  for (const instance of instances) await instance.stop();
  await provider.stop();
  await redis?.stop();
  if (postgres !== undefined) await ("drop" in postgres ? postgres.drop() : postgres.stop());
  rmSync(folder, { recursive: true, force: true });
});

const client = new BatchClient(TEST_KEY);
const texts = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}.`);
const repeated = () => [...provider.arrived.values()].reduce((sum, times) => sum + times - 1, 0);

describe.skipIf(!arePresent)("choices 12, H43: batches at three instances", () => {
  test("a batch runs on all of them, each line once, and max_concurrent holds for all together", async () => {
    const lines = texts("all", 300);
    const id = await client.create(urlOf(0), lines);
    const batch = await client.ended(urlOf(1), id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 300, completed: 300, failed: 0 } });
    expect(await client.idsIn(urlOf(2), batch.output_file_id)).toEqual(lines);
    expect([provider.asked, repeated()]).toEqual([300, 0]);
    expect(provider.byKey.size).toBe(3);
    expect(provider.most).toBeLessThanOrEqual(MAX_CONCURRENT);
    console.log(
      `300 lines: ${[...provider.byKey.values()].join(", ")} at the three instances, at most ${provider.most}`,
    );
  }, 60_000);

  test("a batch that is cancelled at another instance runs no more lines", async () => {
    provider.delayMs = 40;
    const id = await client.create(urlOf(0), texts("cancel", 300));
    await client.until(urlOf(1), id, ({ request_counts }) => request_counts.completed > 20);
    await client.cancel(urlOf(1), id);
    const asked = provider.asked;
    const batch = await client.ended(urlOf(2), id);
    expect(batch.status).toBe("cancelled");
    // Those that ran, and those that were taken in the moment of the cancellation.
    expect(provider.asked - asked).toBeLessThanOrEqual(2 * MAX_CONCURRENT);
    expect(await client.idsIn(urlOf(2), batch.output_file_id)).toHaveLength(provider.asked);
  }, 60_000);

  test("a batch expires, whichever instance has it", async () => {
    provider.delayMs = 100;
    const id = await client.create(urlOf(1), texts("late", 300), { window: "2s" });
    const batch = await client.ended(urlOf(2), id);
    expect(batch.status).toBe("expired");
    const { completed, failed } = batch.request_counts;
    expect([completed, completed + failed]).toEqual([provider.asked, 300]);
  }, 60_000);

  test("what a batch may cost is held once, against the budget of all instances", async () => {
    const poor = new BatchClient(BUDGET_KEY);
    const gate = Promise.withResolvers<void>();
    provider.gate = gate.promise;
    // About 0.2 USD of the 0.5 that the key has: more than half if two instances held it.
    const body = { max_completion_tokens: 1_000 };
    const id = await poor.create(urlOf(0), texts("held", 100), { body });
    await poor.until(urlOf(0), id, () => provider.open === MAX_CONCURRENT);
    await Bun.sleep(3_000);
    const second = await poor.ended(urlOf(1), await poor.create(urlOf(1), texts("more", 200), { body }));
    expect(second.errors?.data[0]?.code).toBe("insufficient_budget");
    // About 0.2 USD again: what is left suffices only if the first is held once.
    const third = await poor.create(urlOf(2), texts("fits", 100), { body });
    await poor.until(urlOf(0), third, ({ status }) => status === "in_progress");
    gate.resolve();
    provider.gate = Promise.resolve();
    const [first, last] = [await poor.ended(urlOf(1), id), await poor.ended(urlOf(0), third)];
    expect([first, last].map(({ request_counts }) => request_counts.completed)).toEqual([100, 100]);
  }, 90_000);

  test("an instance that holds a batch is stopped: the others finish it, and nothing of its budget is lost", async () => {
    const poor = new BatchClient(STOPPED_KEY);
    const gate = Promise.withResolvers<void>();
    provider.gate = gate.promise;
    const body = { max_completion_tokens: 1_000 };
    const id = await poor.create(urlOf(1), texts("stopped", 100), { body });
    await poor.until(urlOf(0), id, () => provider.open === MAX_CONCURRENT);
    const stopped = instances[1]?.stop();
    gate.resolve();
    provider.gate = Promise.resolve();
    await stopped;
    const batch = await poor.ended(urlOf(0), id);
    expect([batch.status, batch.request_counts.completed, repeated()]).toEqual(["completed", 100, 0]);
    // About 0.4 USD, which does not fit if what was held counts as spent.
    const next = await poor.ended(urlOf(2), await poor.create(urlOf(2), texts("after", 200), { body }));
    expect([next.status, next.errors ?? null, next.request_counts.completed]).toEqual(["completed", null, 200]);
    await instances[1]?.start(KEYS);
  }, 120_000);

  test("an instance that does not share the folder of files is refused; one with a copy of it leaves lines to the others, and says why", async () => {
    // Its limit is higher, so that the others cannot take all lines.
    const stray = makeInstance("stray", "stray/files", 2 * MAX_CONCURRENT);
    await expect(stray.start(KEYS)).rejects.toThrow();
    const said = () => Bun.file(join(folder, "stray", "stderr")).text();
    expect(await said()).toMatch(
      /A gateway on this database keeps its files elsewhere: .* Set `files` of all gateways/,
    );
    cpSync(join(folder, "files/.trivium-store"), join(folder, "stray/files/.trivium-store"));
    await stray.start(KEYS);
    provider.delayMs = 40;
    const lines = texts("stray", 300);
    const batch = await client.ended(urlOf(1), await client.create(urlOf(0), lines));
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 300, completed: 300, failed: 0 } });
    expect(provider.byKey.has("key-of-stray")).toBe(false);
    expect(await said()).toContain("must share that folder");
    await stray.stop();
  }, 90_000);

  test("an instance is killed: the others run its lines again, and every line has one result", async () => {
    provider.delayMs = 50;
    const lines = texts("killed", 400);
    const id = await client.create(urlOf(0), lines);
    await client.until(urlOf(0), id, ({ request_counts }) => request_counts.completed > 60);
    await instances[0]?.kill();
    const batch = await client.ended(urlOf(1), id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 400, completed: 400, failed: 0 } });
    expect(await client.idsIn(urlOf(2), batch.output_file_id)).toEqual(lines);
    expect(provider.arrived.size).toBe(400);
    expect(repeated()).toBeLessThanOrEqual(MAX_CONCURRENT);
    console.log(`killed: ${repeated()} lines were sent twice`);
    await instances[0]?.start(KEYS);
  }, 120_000);
});
