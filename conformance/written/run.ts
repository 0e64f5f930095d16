/**
 * `npm run written`: makes a key, calls with it at once, changes its limit, narrows its models and revokes it, each time calling at
 * once, over HTTP and WebSockets, each over a connection of its own, so that any process may get it. Prints how many answers were not
 * those of one process that had just been told.
 *
 * Options: --workers N (default 2), or --instances N with PostgreSQL and Redis, where changes have a second, or --elsewhere MS; --rounds N (default 1000);
 * --calls N at once (default 4); --commands N makes the changes of so many rounds with the command line beside the gateway.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../testing/free-port.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { startRedis } from "../../testing/redis.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callOnce, HoldingProvider } from "../support/limit-race.ts";
import { TRIVIUM } from "../support/program.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const { values } = parseArgs({
  options: {
    workers: { type: "string", default: "2" },
    instances: { type: "string", default: "1" },
    rounds: { type: "string", default: "1000" },
    calls: { type: "string", default: "4" },
    commands: { type: "string", default: "0" },
    elsewhere: { type: "string", default: "1000" },
  },
});
const [workers, count] = [Number(values.workers), Number(values.instances)];
const [rounds, calls] = [Number(values.rounds), Number(values.calls)];
/** How long another instance may take. */
const ELSEWHERE_MS = Number(values.elsewhere);
const PAUSE_MS = 20;
/** Rounds at the same time: refused calls wait for what other processes may give back, and unknown keys are throttled. */
const LANES = 8;
const START_MS = 60_000;

interface Instance {
  cwd: string;
  program: Bun.Subprocess;
  url: string;
  adminUrl: string;
}

const folder = mkdtempSync(join(tmpdir(), "trivium-written-"));
const provider = new HoldingProvider();
const postgres = count > 1 ? await startPostgres() : undefined;
const redis = count > 1 ? await startRedis() : undefined;
if (count > 1 && (postgres === undefined || redis === undefined))
  throw new Error("Several instances need PostgreSQL and Redis, which are not installed.");
const instances: Instance[] = [];

async function start(name: string): Promise<Instance> {
  const cwd = join(folder, name);
  const [port, adminPort] = [freePort(), freePort()];
  const config = {
    ...scriptedModels(provider.url),
    server: { host: "127.0.0.1", port },
    admin: { host: "127.0.0.1", port: adminPort, secret: TEST_ADMIN_SECRET },
    data_dir: join(cwd, "data"),
    files: join(folder, "files"),
    simulator: false,
    log: { calls: "off" },
    keys: [{ name: "tests", key: TEST_KEY }],
    ...(postgres && redis && { storage: postgres.url, redis: redis.url }),
  };
  mkdirSync(cwd);
  writeFileSync(join(cwd, "trivium.yaml"), JSON.stringify(config));
  const program = Bun.spawn([TRIVIUM, "serve", "--workers", String(workers)], {
    cwd,
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(join(folder, `${name}.log`)),
  });
  const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200;
  for (const untilMs = performance.now() + START_MS; !(await isReady()); await Bun.sleep(PAUSE_MS)) {
    if (performance.now() > untilMs) throw new Error(`${name} did not start`);
  }
  return { cwd, program, url, adminUrl };
}

/** The Admin API, each time over another connection. */
async function change(at: Instance, method: string, path: string, body?: object): Promise<{ id: string; key: string }> {
  const response = await fetch(`${at.adminUrl}${path}`, {
    method,
    keepalive: false,
    headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json", connection: "close" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: { id: string; key: string } }).data;
}

/** The command line, which writes to the database. */
async function command({ cwd }: Instance, ...given: string[]): Promise<{ id: string; key: string }> {
  const child = Bun.spawn([TRIVIUM, "keys", ...given, "--json"], { cwd, stdout: "pipe", stderr: "pipe" });
  const [said, problems, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`keys ${given.join(" ")}: ${problems}`);
  return JSON.parse(said) as { id: string; key: string };
}

/** 101 if the connection was accepted, the status otherwise. */
async function upgradeAt({ url }: Instance, key: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const { hostname, port } = new URL(url);
  const lines = [
    "GET /v1/responses HTTP/1.1",
    `host: ${hostname}:${port}`,
    `authorization: Bearer ${key}`,
    "connection: Upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    "",
    "",
  ];
  let answer = "";
  const ends = () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0));
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(lines.join("\r\n")),
      data: (socket, bytes) => {
        answer += bytes.toString();
        ends();
        socket.end();
      },
      close: ends,
      error: ends,
    },
  }).catch(ends);
  return await promise;
}

const seen = new Map<string, { calls: number; surprises: number; slowestMs: number; statuses: Map<number, number> }>();

/** All of these calls get that status: where the change was made at once, elsewhere within a second. */
async function expectAll(
  step: string,
  here: boolean,
  status: number,
  call: () => Promise<number>,
  times = count === 1 ? calls : Math.ceil(calls / 2),
) {
  const sum = seen.get(step) ?? { calls: 0, surprises: 0, slowestMs: 0, statuses: new Map() };
  seen.set(step, sum);
  const beganMs = performance.now();
  const one = async () => {
    for (;;) {
      const sentMs = performance.now() - beganMs;
      const found = await call();
      sum.calls++;
      if (found === status) {
        sum.slowestMs = Math.max(sum.slowestMs, sentMs);
        return;
      }
      if (here || sentMs > ELSEWHERE_MS) {
        sum.surprises++;
        sum.statuses.set(found, (sum.statuses.get(found) ?? 0) + 1);
        if (!here) sum.slowestMs = Math.max(sum.slowestMs, sentMs);
        return;
      }
      await Bun.sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: times }, one));
}

async function round(number: number): Promise<void> {
  const origin = instances[number % instances.length];
  if (origin === undefined) throw new Error("there is no instance");
  const everywhere = (step: string, http: number, socket: number, key: string, looksUp = false) =>
    Promise.all(
      instances.map(async (at) => {
        // A key that an instance does not know is looked up before it is refused: it works at once.
        const here = at === origin || looksUp;
        const place = at === origin ? "" : " elsewhere";
        await expectAll(`${step}${place}`, here, http, () => callOnce(at.url, key));
        await expectAll(`${step}, WebSocket${place}`, here, socket, () => upgradeAt(at, key));
      }),
    );
  const byCommand = number < Number(values.commands);
  const { id, key } = byCommand
    ? await command(origin, "create", "--name", `round-${number}`)
    : await change(origin, "POST", "/api/keys", { name: `round-${number}` });
  await everywhere("made", 200, 101, key, true);
  if (byCommand) await command(origin, "update", id, "--limit", "requests_per_minute=1");
  else await change(origin, "PATCH", `/api/keys/${id}`, { limits: { requests_per_minute: 1 } });
  // What was used before there was a limit is not counted.
  await expectAll("first of the limit", true, 200, () => callOnce(origin.url, key), 1);
  await everywhere("limited", 429, 429, key);
  if (byCommand) await command(origin, "update", id, "--limit", "requests_per_minute=none", "--protocols", "messages");
  else
    await change(origin, "PATCH", `/api/keys/${id}`, {
      limits: { requests_per_minute: null },
      protocols: ["messages"],
    });
  await everywhere("narrowed", 403, 403, key);
  if (byCommand) await command(origin, "revoke", id);
  else await change(origin, "DELETE", `/api/keys/${id}`);
  await everywhere("revoked", 401, 401, key);
}

let surprises = 0;
try {
  provider.release();
  for (let made = 0; made < count; made++) instances.push(await start(`instance-${made + 1}`));
  let next = 0;
  const beganMs = performance.now();
  const lane = async () => {
    while (next < rounds) await round(next++);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const what = count > 1 ? `${count} instances` : `${workers} workers`;
  console.log(`${what}, ${rounds} rounds in ${Math.round((performance.now() - beganMs) / 1000)} s`);
  for (const [step, { calls: made, surprises: wrong, slowestMs, statuses }] of seen) {
    surprises += wrong;
    const others = [...statuses].map(([status, times]) => `${times} × ${status}`).join(", ");
    const slowest = step.endsWith("elsewhere") ? `, the slowest after ${Math.round(slowestMs)} ms` : "";
    console.log(`  ${step}: ${made} calls, ${wrong} surprises${others && ` (${others})`}${slowest}`);
  }
  console.log(surprises === 0 ? "0 surprises" : `${surprises} surprises`);
} finally {
  for (const { program } of instances) program.kill("SIGTERM");
  for (const { program } of instances) await program.exited;
  await provider.stop();
  await redis?.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(surprises === 0 ? 0 : 1);
