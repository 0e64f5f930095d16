/**
 * `npm run bench:end-users`: many end users with limits through three gateways that share them, with PostgreSQL and Redis on this
 * machine. Prints the memory of the gateways and of Redis, the time of calls without end users, of end users in memory and of
 * others, and whether calls by the same end users on all gateways at once stay within their limits exactly.
 *
 * Options: --users N that have used the gateway before (default 1000000), --rate N calls a second (default 150), --seconds N of
 * each phase (default 40), --latency MS of the provider (default 20).
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { RedisClient, SQL } from "bun";
import { TRIVIUM } from "../../conformance/support/program.ts";
import { freePort } from "../../testing/free-port.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { startRedis } from "../../testing/redis.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { residentMegabytes } from "../proc.ts";

const { values } = parseArgs({
  options: {
    users: { type: "string", default: "1000000" },
    rate: { type: "string", default: "150" },
    seconds: { type: "string", default: "40" },
    latency: { type: "string", default: "20" },
  },
});
const users = Number(values.users);
const PLAIN_KEY = "a-key-of-the-benchmark-without-end-users";
const GATEWAYS = 3;
const REQUESTS_A_DAY = 100;
/** End users whose calls arrive at all gateways at once, and how many calls each has left before. */
const RACERS = [100, 60, 10, 1, 0];
const CALLS_OF_RACER = 300;

const folder = mkdtempSync(join(tmpdir(), "trivium-bench-end-users-"));
const [postgres, redis] = [await startPostgres(), await startRedis()];
if (postgres === undefined || redis === undefined) throw new Error("PostgreSQL and Redis must be installed");
const provider = Bun.spawn([process.execPath, join(import.meta.dir, "..", "batch-provider.child.ts"), values.latency], {
  stdout: "pipe",
  stderr: "inherit",
});
const reader = provider.stdout.getReader();
const port = Number(new TextDecoder().decode((await reader.read()).value));

const gateways = Array.from({ length: GATEWAYS }, (_, index) => {
  const url = `http://127.0.0.1:${freePort()}`;
  const cwd = join(folder, `gateway-${index}`);
  return { url, cwd };
});
const endUsers = { limits: { requests_per_minute: 1_000, requests_per_day: REQUESTS_A_DAY, budget_usd_per_month: 5 } };
const start = ({ url, cwd }: { url: string; cwd: string }) => {
  Bun.spawnSync(["mkdir", "-p", cwd]);
  writeFileSync(
    join(cwd, "trivium.yaml"),
    JSON.stringify({
      server: { port: Number(new URL(url).port) },
      admin: { port: freePort(), secret: "bench-admin-secret-0123456789" },
      simulator: false,
      log: { calls: "off" },
      storage: postgres.url,
      redis: redis.url,
      files: join(folder, "files"),
      keys: [
        { name: "bench", key: TEST_KEY, end_users: endUsers },
        { name: "plain", key: PLAIN_KEY, limits: { requests_per_minute: 10_000_000 } },
      ],
      ...scriptedModels(`http://127.0.0.1:${port}`, { first_byte: 30_000, idle: 30_000 }),
    }),
  );
  return Bun.spawn([TRIVIUM, "serve", "--workers", "1"], { cwd, stdout: "ignore", stderr: "inherit" });
};

const isReady = async (url: string) => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200;

async function call(at: number, key: string, user?: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    ...(user !== undefined && { "x-trivium-user": user }),
  };
  const body = JSON.stringify({ model: "test/chat", max_tokens: 20, messages: [{ role: "user", content: "Hello." }] });
  const url = gateways[at % GATEWAYS]?.url ?? "";
  const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

let highest = 0;
const running: ReturnType<typeof start>[] = [];
const resident = () => running.map(({ pid }) => Math.round(residentMegabytes([pid])));

/** Calls at a constant rate, whether earlier ones are answered or not. */
async function phase(name: string, key: string, userOf: (count: number) => string | undefined): Promise<void> {
  const [times, statuses, open] = [[] as number[], new Map<number, number>(), new Set<Promise<void>>()];
  const rate = Number(values.rate);
  const total = rate * Number(values.seconds);
  const began = performance.now();
  for (let count = 0; count < total; count++) {
    const waitMs = began + (count * 1000) / rate - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    const since = performance.now();
    const sent = call(count, key, userOf(count))
      .catch(() => 0)
      .then((status) => {
        times.push(performance.now() - since);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
    open.add(sent);
    void sent.finally(() => open.delete(sent));
    if (count % 50 === 0) highest = Math.max(highest, ...resident());
  }
  await Promise.all(open);
  times.sort((one, other) => one - other);
  const shown = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  console.log(
    `${name}: p50 ${at(times, 0.5).toFixed(1)} ms, p95 ${at(times, 0.95).toFixed(1)} ms, p99 ${at(times, 0.99).toFixed(1)} ms (${shown})`,
  );
}

try {
  // The tables are made by a first start.
  const [first] = gateways;
  if (first === undefined) throw new Error("there is a first gateway");
  const making = start(first);
  while (!(await isReady(first.url))) await Bun.sleep(50);
  making.kill("SIGTERM");
  await making.exited;
  const sql = new SQL(postgres.url, { max: 1 });
  const day = Math.floor(Date.now() / 86_400_000);
  const filling = performance.now();
  await sql.unsafe(
    `INSERT INTO end_user_days (end_user, project, key_id, day, instance, calls, tokens, cost_nano_usd, last_at_ms)
     SELECT 'user-' || i, 'default', 'static:bench', ${day} - (i % 20), 'earlier', 3, 60, 90000, ${Date.now() - 86_400_000}
     FROM generate_series(1, ${users}) AS i`,
  );
  for (const [racer, left] of RACERS.entries()) {
    const used = REQUESTS_A_DAY - left;
    await sql.unsafe(
      `INSERT INTO end_user_days (end_user, project, key_id, day, instance, calls, tokens, cost_nano_usd, last_at_ms)
       VALUES ('racer-${racer}', 'default', 'static:bench', ${day}, 'earlier', ${used}, 0, 0, ${Date.now()})`,
    );
  }
  await sql.unsafe("ANALYZE end_user_days");
  const [size] = (await sql.unsafe("SELECT pg_total_relation_size('end_user_days') AS bytes")) as { bytes: string }[];
  console.log(
    `${users.toLocaleString("en")} end users: filled in ${((performance.now() - filling) / 1000).toFixed(1)} s, ${Math.round(Number(size?.bytes) / 2 ** 20)} MB in PostgreSQL`,
  );
  for (const gateway of gateways) running.push(start(gateway));
  for (const { url } of gateways) while (!(await isReady(url))) await Bun.sleep(50);
  await Bun.sleep(2_000);
  console.log(`resident at the start: ${resident().join(", ")} MB`);
  await phase("warm-up, without end users", PLAIN_KEY, () => undefined);
  await phase("without end users", PLAIN_KEY, () => undefined);
  console.log(`resident: ${resident().join(", ")} MB`);
  const random = () => 1 + Math.floor(Math.random() * users);
  await phase("warm-up, one of all end users at random", TEST_KEY, () => `user-${random()}`);
  await phase("one of all end users at random (cold)", TEST_KEY, () => `user-${random()}`);
  console.log(`resident: ${resident().join(", ")} MB`);
  const known = Array.from({ length: 300 }, random);
  await phase("warm-up, the same 300 end users", TEST_KEY, (count) => `user-${known[count % 300]}`);
  await phase("the same 300 end users again and again", TEST_KEY, (count) => `user-${known[count % 300]}`);
  console.log(`resident: ${resident().join(", ")} MB; highest ${highest} MB`);
  const client = new RedisClient(redis.url);
  const info = String(await client.send("INFO", ["memory"]));
  const keys = Number(await client.send("DBSIZE", []));
  console.log(`Redis: ${keys} keys, ${/used_memory_human:(\S+)/.exec(info)?.[1]}`);
  const racing = performance.now();
  const results = await Promise.all(
    RACERS.flatMap((_, racer) =>
      Array.from({ length: CALLS_OF_RACER }, (__, count) => call(count, TEST_KEY, `racer-${racer}`)),
    ),
  );
  const raceMs = performance.now() - racing;
  let isExact = true;
  for (const [racer, left] of RACERS.entries()) {
    const own = results.slice(racer * CALLS_OF_RACER, (racer + 1) * CALLS_OF_RACER);
    const admitted = own.filter((status) => status === 200).length;
    const refused = own.filter((status) => status === 429).length;
    isExact &&= admitted === left;
    console.log(
      `race: ${CALLS_OF_RACER} calls at once on ${GATEWAYS} gateways, ${left} left: ${admitted} admitted, ${refused} refused`,
    );
  }
  console.log(`race: ${isExact ? "exact" : "NOT EXACT"}, ${Math.round(raceMs)} ms for ${results.length} calls`);
  const stored = (await sql.unsafe(
    "SELECT end_user, CAST(SUM(calls) AS BIGINT) AS calls FROM end_user_days WHERE end_user LIKE 'racer-%' GROUP BY end_user ORDER BY end_user",
  )) as { end_user: string; calls: string }[];
  console.log(`stored: ${stored.map(({ calls }) => calls).join(", ")} of ${REQUESTS_A_DAY} calls`);
  await Bun.sleep(30_000);
  console.log(
    `half a minute later: resident ${resident().join(", ")} MB, ${Number(await client.send("DBSIZE", []))} keys in Redis`,
  );
  client.close();
  await sql.close();
} finally {
  for (const gateway of running) gateway.kill("SIGTERM");
  await Promise.all(running.map(({ exited }) => exited));
  provider.kill();
  await redis.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
