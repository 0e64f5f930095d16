/**
 * `bin/bun bench/growth/gateways.ts --gateways 4 --keys 10000`: real gateways with PostgreSQL and Redis on this machine, and so many keys
 * with limits. Prints what they send to both servers each second, at rest and under load, and what all of them use.
 *
 * `--rate N` (100) calls a second, each with a key drawn at random, at each gateway in turn, for `--seconds N` (15).
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { RedisClient, SQL } from "bun";
import { SeededRandom } from "../../simulation/seeded-random.ts";
import { freePort } from "../../testing/free-port.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { startRedis } from "../../testing/redis.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { childrenOf, cpuMicroseconds, residentMegabytes } from "../proc.ts";
import { quantile } from "../statistics.ts";

const { values } = parseArgs({
  options: {
    gateways: { type: "string", default: "4" },
    keys: { type: "string", default: "10000" },
    rate: { type: "string", default: "100" },
    seconds: { type: "string", default: "15" },
  },
});
const [keys, rate, seconds] = [Number(values.keys), Number(values.rate), Number(values.seconds)];
const PROGRAM = join(import.meta.dir, "..", "..", "bin", "trivium");
const random = new SeededRandom(1);
const keyOf = (index: number): string => `sk-trv-${String(index).padStart(43, "0")}`;

const folder = mkdtempSync(join(tmpdir(), "trivium-growth-"));
const [postgres, redis] = [await startPostgres(), await startRedis()];
if (postgres === undefined || redis === undefined) throw new Error("PostgreSQL and Redis must be installed");
const provider = Bun.spawn([process.execPath, join(import.meta.dir, "..", "batch-provider.child.ts"), "20"], {
  stdout: "pipe",
  stderr: "inherit",
});
const providerPort = Number(new TextDecoder().decode((await provider.stdout.getReader().read()).value));
const limits = { requests_per_minute: 600, budget_usd_per_day: 50 };

interface Gateway {
  url: string;
  child: Bun.Subprocess;
}
const gateways: Gateway[] = [];

async function start(): Promise<void> {
  const cwd = join(folder, `gateway-${gateways.length}`);
  const port = freePort();
  mkdirSync(cwd);
  writeFileSync(
    join(cwd, "trivium.yaml"),
    JSON.stringify({
      server: { port },
      admin: { port: freePort(), secret: "bench-admin-secret-0123456789" },
      simulator: false,
      log: { calls: "off" },
      storage: postgres?.url,
      redis: redis?.url,
      files: join(folder, "files"),
      keys: Array.from({ length: keys }, (_, index) => ({ name: `key-${index}`, key: keyOf(index), limits })),
      ...scriptedModels(`http://127.0.0.1:${providerPort}`, { first_byte: 30_000, idle: 30_000 }),
    }),
  );
  const url = `http://127.0.0.1:${port}`;
  gateways.push({ url, child: Bun.spawn([PROGRAM, "serve"], { cwd, stdout: "ignore", stderr: "inherit" }) });
  while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) await Bun.sleep(50);
}

const statuses = new Map<number, number>();
const times: number[] = [];

async function call(index: number): Promise<void> {
  const { url } = gateways[index % gateways.length] as Gateway;
  const headers = { authorization: `Bearer ${keyOf(random.between(0, keys - 1))}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "test/chat", max_tokens: 20, messages: [{ role: "user", content: "Hello." }] });
  const sinceMs = performance.now();
  const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
  await answer.arrayBuffer();
  times.push(performance.now() - sinceMs);
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
}

async function load(): Promise<void> {
  const calls: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let count = 0; count < rate * seconds; ) {
    const due = Math.min(rate * seconds, ((performance.now() - beganMs) * rate) / 1000);
    for (; count < due; count++) calls.push(call(count));
    await Bun.sleep(5);
  }
  await Promise.all(calls);
}

const redisClient = new RedisClient(redis.url);
const sql = new SQL(postgres.url, { max: 1 });

async function counters(): Promise<Record<string, number>> {
  const info = String(await redisClient.send("INFO", ["everything"]));
  const read = (pattern: RegExp) => Number(pattern.exec(info)?.[1] ?? 0);
  // A session tells what it has done now and then: at the latest a second after it.
  await Bun.sleep(1_200);
  const [row] =
    await sql`SELECT xact_commit AS commits, tup_inserted AS inserted, tup_updated AS updated FROM pg_stat_database
    WHERE datname = current_database()`;
  const [pid] = [Number((await sql`SELECT pg_backend_pid() AS pid`)[0].pid)];
  const server = Number((await Bun.file(`/proc/${pid}/stat`).text()).split(") ")[1]?.split(" ")[1]);
  return {
    ms: performance.now(),
    scripts: read(/cmdstat_evalsha:calls=(\d+)/),
    scriptUs: read(/cmdstat_evalsha:calls=\d+,usec=(\d+)/),
    publishes: read(/cmdstat_publish:calls=(\d+)/),
    redisUs: 1e6 * (read(/used_cpu_user:([\d.]+)/) + read(/used_cpu_sys:([\d.]+)/)),
    commits: Number(row.commits),
    rows: Number(row.inserted) + Number(row.updated),
    postgresUs: cpuMicroseconds([server, ...childrenOf(server)]),
    gatewayUs: cpuMicroseconds(gateways.map(({ child }) => child.pid)),
  };
}

async function phase(name: string, work: () => Promise<unknown>): Promise<void> {
  const before = await counters();
  await work();
  const after = await counters();
  const took = ((after["ms"] ?? 0) - (before["ms"] ?? 0)) / 1000;
  const a = (what: string) => ((after[what] ?? 0) - (before[what] ?? 0)) / took;
  const percent = (what: string) => `${(a(what) / 1e4).toFixed(1)}%`;
  console.log(
    `${name}: ${a("scripts").toFixed(1)} messages/s to Redis (${(a("scriptUs") / Math.max(1, a("scripts"))).toFixed(0)} µs each), ${a("publishes").toFixed(1)} notifications/s; ` +
      `${a("commits").toFixed(1)} transactions/s and ${a("rows").toFixed(1)} rows/s in PostgreSQL; ` +
      `processors: Redis ${percent("redisUs")}, PostgreSQL ${percent("postgresUs")}, gateways ${percent("gatewayUs")}`,
  );
}

try {
  const startedMs = performance.now();
  while (gateways.length < Number(values.gateways)) {
    const sinceMs = performance.now();
    await start();
    console.log(`gateway ${gateways.length} ready after ${((performance.now() - sinceMs) / 1000).toFixed(1)} s`);
  }
  console.log(
    `${gateways.length} gateways, ${keys} keys, ready in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
  );
  await Bun.sleep(5_000);
  await phase("at rest", () => Bun.sleep(seconds * 1000));
  await phase(`${rate} calls/s, first calls of most keys`, load);
  times.length = 0;
  await phase(`${rate} calls/s`, load);
  const shown = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  console.log(`${shown}; p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`);
  console.log(`resident: ${gateways.map(({ child }) => residentMegabytes([child.pid]).toFixed(0)).join(", ")} MB`);
} finally {
  for (const { child } of gateways) child.kill("SIGTERM");
  await Promise.all(gateways.map(({ child }) => child.exited));
  redisClient.close();
  await sql.close();
  provider.kill();
  await redis.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
