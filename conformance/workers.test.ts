import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProject } from "../src/access/projects.ts";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import { eventually } from "../testing/eventually.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { callOnce, HoldingProvider, RACED_LIMITS, raceLine } from "./support/limit-race.ts";
import { bareEnvironment, childrenOf, isAlive, TRIVIUM } from "./support/program.ts";
import { TEST_ADMIN_SECRET } from "./support/test-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-workers-"));
const provider = new HoldingProvider();
const running = new Set<Bun.Subprocess>();
afterEach(async () => {
  for (const program of running) {
    program.kill("SIGKILL");
    await program.exited;
  }
  running.clear();
});
afterAll(async () => {
  await provider.stop();
  // Workers whose first process was killed exit in their own time.
  await Bun.sleep(500);
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  program: Bun.Subprocess;
  url: string;
  adminUrl: string;
  database: string;
  /** Of the processes that serve calls. */
  workers(): number[];
  said(): Promise<string>;
}

let started = 0;

type Limits = Readonly<Record<string, number>>;

interface Key {
  name: string;
  key: string;
  limits?: Limits;
  project?: string;
}

interface Project {
  id: string;
  limits: Limits;
}

const keyWith = (limits: Limits): Key[] => [{ name: "tests", key: TEST_KEY, limits }];

async function startWorkers(
  count: number,
  keys: readonly Key[],
  {
    name = ++started,
    projects = [],
    simulator = false,
  }: { name?: number; projects?: readonly Project[]; simulator?: boolean } = {},
): Promise<Started> {
  const place = join(folder, String(name));
  const database = join(place, "trivium.db");
  await Bun.write(join(place, "said"), "");
  if (projects.length > 0) {
    const storage = await openStorage(`sqlite:${database}`, system.clock);
    for (const project of projects) await createProject(storage, project, system, { who: "test" });
    await storage.close();
  }
  const config = {
    ...scriptedModels(provider.url, { first_byte: 30_000, idle: 30_000 }),
    server: { host: "127.0.0.1", port: 0 },
    admin: { host: "127.0.0.1", port: 0, secret: TEST_ADMIN_SECRET },
    storage: `sqlite:${database}`,
    data_dir: place,
    simulator,
    log: { level: "info", format: "json", calls: "off" },
    keys,
  };
  writeFileSync(join(place, "trivium.yaml"), JSON.stringify(config));
  const program = Bun.spawn([TRIVIUM, "serve", "--workers", String(count), "--json"], {
    cwd: place,
    env: bareEnvironment(),
    stdout: "pipe",
    stderr: Bun.file(join(place, "said")),
  });
  running.add(program);
  let shown = "";
  const decoder = new TextDecoder();
  for await (const chunk of program.stdout) {
    shown += decoder.decode(chunk, { stream: true });
    if (shown.trimEnd().endsWith("\n}")) break;
  }
  const { url, admin_url: adminUrl } = JSON.parse(shown) as { url: string; admin_url: string };
  const instances = { program, url, adminUrl, database, workers: () => childrenOf(program.pid) };
  await eventually("the workers", async () => (await readyInstances(database)) === count);
  return { ...instances, said: () => Bun.file(join(place, "said")).text() };
}

async function readyInstances(database: string): Promise<number> {
  const rows = await ask(database, "SELECT COUNT(*) AS count FROM instances WHERE beats > 0");
  return Number(rows[0]?.["count"]);
}

async function ask(database: string, query: string) {
  const storage = await openStorage(`sqlite:${database}`, system.clock);
  try {
    return await storage.query(query);
  } finally {
    await storage.close();
  }
}

describe("H23, choices 9: 2,000 concurrent calls against limits for fewer, on three workers", () => {
  const expected: Readonly<Record<string, number>> = {
    "requests a minute": 500,
    "tokens a minute": 666,
    "concurrent calls": 500,
    money: 571,
  };
  const raced = (["key", "project"] as const).flatMap((level) =>
    RACED_LIMITS.map(([what, limits], at) => {
      const name = `${level}-${at}`;
      return { level, what, limits, name, key: `sk-trv-${name}-`.padEnd(50, "x") };
    }),
  );
  const admittedOf = new Map<string, number>();
  let gateway: Started;

  // One gateway for all races: each has its own key or project.
  beforeAll(async () => {
    const keys = raced.map(({ level, limits, name, key }) => ({
      name,
      key,
      ...(level === "key" ? { limits } : { project: name }),
    }));
    const projects = raced.filter(({ level }) => level === "project").map(({ name: id, limits }) => ({ id, limits }));
    gateway = await startWorkers(3, keys, { projects });
    // A test that stops its own gateway does not affect this one.
    running.delete(gateway.program);
  }, 180_000);
  afterAll(async () => {
    gateway?.program.kill("SIGKILL");
    await gateway?.program.exited;
  });

  for (const { level, what, name, key } of raced) {
    test(`${what} of the ${level}: never more than one process admits, and at least 98% of it`, async () => {
      const admitted = await provider.race([gateway.url], 2_000, key);
      admittedOf.set(name, admitted);
      console.log(raceLine(`${what} of the ${level}`, expected[what] ?? 0, admitted, "three workers"));
      expect(admitted).toBeLessThanOrEqual(expected[what] ?? 0);
      expect(admitted).toBeGreaterThanOrEqual(Math.floor(0.98 * (expected[what] ?? 0)));
    });
  }

  test("each of the three wrote rows in every race, and together one for each admitted call", async () => {
    gateway.program.kill("SIGTERM");
    expect(await gateway.program.exited).toBe(0);
    const query = "SELECT key_id, instance, COUNT(*) AS rows FROM receipts GROUP BY key_id, instance";
    const rows = await ask(gateway.database, query);
    for (const { name } of raced) {
      const writers = rows.filter((row) => String(row["key_id"]).includes(name));
      expect([name, writers.length]).toEqual([name, 3]);
      const sum = writers.reduce((all, row) => all + Number(row["rows"]), 0);
      expect([name, sum]).toEqual([name, admittedOf.get(name) ?? 0]);
    }
    const all = rows.reduce((sum, row) => sum + Number(row["rows"]), 0);
    expect(all).toBe([...admittedOf.values()].reduce((sum, admitted) => sum + admitted, 0));
  });
});

describe("H23, choices 9: a budget smaller than one reservation per worker", () => {
  test("three workers answer as many calls as one process does", async () => {
    provider.release();
    // Two calls of 0.00003 USD; a third of it is less than one reservation.
    const { url } = await startWorkers(3, keyWith({ budget_usd_per_day: 0.00006 }));
    const statuses: number[] = [];
    for (let index = 0; index < 6; index++) statuses.push(await callOnce(url));
    expect(statuses).toEqual([200, 200, 402, 402, 402, 402]);
  });
});

describe("choices 9, H28: killed workers", () => {
  /** Between two calls of a client. */
  const PAUSE_MS = 5;

  test("one is replaced, and its share is freed; budgets match the ledger", async () => {
    const { url, workers, database, said } = await startWorkers(
      3,
      keyWith({ concurrent: 30, budget_usd_total: 0.003 }),
    );
    provider.release();
    const [victim = 0] = workers();
    const statuses: number[] = [];
    let isOver = false;
    const callers = Array.from({ length: 12 }, async () => {
      for (; !isOver; await Bun.sleep(PAUSE_MS)) statuses.push(await callOnce(url));
    });
    await Bun.sleep(300);
    process.kill(victim, "SIGKILL");
    await eventually("the workers", () => workers().length === 3 && !workers().includes(victim));
    await eventually("the workers", async () =>
      (await said()).includes("a worker process ended and is being replaced"),
    );
    // The whole budget is spent in the end, that of the dead worker too, and nothing beyond it.
    await eventually("the workers", async () => {
      const [row] = await ask(database, "SELECT SUM(cost_nano_usd) AS spent FROM receipts");
      return Number(row?.["spent"]) > 0.95 * 3_000_000 && statuses.includes(402);
    });
    isOver = true;
    await Promise.all(callers);
    const [row] = await ask(database, "SELECT SUM(cost_nano_usd) AS spent, COUNT(*) AS rows FROM receipts");
    expect(Number(row?.["spent"])).toBeLessThanOrEqual(3_000_000);
    expect(Number(row?.["rows"])).toBeGreaterThanOrEqual(statuses.filter((status) => status === 200).length);
    // Calls over budget are refused; cut calls were in flight in the killed worker.
    const share = (status: number): number => statuses.filter((each) => each === status).length / statuses.length;
    console.log(`429 while the workers' shares of 30 concurrent calls moved: ${(100 * share(429)).toFixed(2)}%`);
    expect(new Set(statuses).difference(new Set([0, 200, 402, 429]))).toEqual(new Set());
    expect(share(429)).toBeLessThanOrEqual(0.02);
  });

  test("when the first process is killed, the workers exit, and another start takes over", async () => {
    const { program, workers } = await startWorkers(2, keyWith({ concurrent: 30 }), { name: 90 });
    const pids = workers();
    expect(pids).toHaveLength(2);
    program.kill("SIGKILL");
    await program.exited;
    await eventually("the workers", () => !pids.some(isAlive));
    const again = await startWorkers(2, keyWith({ concurrent: 30 }), { name: 90 });
    provider.release();
    expect(await callOnce(again.url)).toBe(200);
    again.program.kill("SIGTERM");
    expect(await again.program.exited).toBe(0);
  });

  test("with calls in flight they end them and write their receipts, and the next start need not wait for the drain", async () => {
    const { program, url, workers, database } = await startWorkers(2, keyWith({}), { name: 91 });
    provider.hold();
    const calls = Array.from({ length: 8 }, () => callOnce(url));
    await eventually("eight calls at the provider", () => provider.asked === 8);
    const pids = workers();
    program.kill("SIGKILL");
    await program.exited;
    expect(await Promise.all(calls)).not.toContain(200);
    const again = await startWorkers(2, keyWith({}), { name: 91 });
    expect(pids.some(isAlive)).toBe(false);
    provider.release();
    expect(await callOnce(again.url)).toBe(200);
    const [row] = await ask(database, "SELECT COUNT(*) AS rows FROM receipts");
    expect(Number(row?.["rows"])).toBe(9);
  });

  test("a second start names the process whose stop ends the gateway", async () => {
    const { program, workers, database } = await startWorkers(2, keyWith({}), { name: 92 });
    const pids = workers();
    const second = Bun.spawn([TRIVIUM, "serve", "--workers", "2", "--port", "0", "--admin-port", "0"], {
      cwd: join(database, ".."),
      env: bareEnvironment(),
      stdout: "ignore",
      stderr: "pipe",
    });
    const [code, said] = await Promise.all([second.exited, second.stderr.text()]);
    expect(code).toBe(1);
    const named = Number(/already running on this database: .*, process (\d+), started/.exec(said)?.[1]);
    expect(named).toBe(program.pid);
    process.kill(named, "SIGTERM");
    expect(await program.exited).toBe(0);
    expect(pids.some(isAlive)).toBe(false);
  });

  test("SIGTERM lets calls in flight finish", async () => {
    const { program, url } = await startWorkers(2, keyWith({}));
    provider.hold();
    const calls = Array.from({ length: 8 }, () => callOnce(url));
    await eventually("the workers", () => provider.asked === 8);
    program.kill("SIGTERM");
    await Bun.sleep(200);
    provider.release();
    expect(await Promise.all(calls)).toEqual(calls.map(() => 200));
    expect(await program.exited).toBe(0);
  });

  test("systemd's SIGTERM to every process lets calls in flight finish", async () => {
    const { program, url, workers } = await startWorkers(2, keyWith({}));
    provider.hold();
    const calls = Array.from({ length: 8 }, () => callOnce(url));
    await eventually("the workers", () => provider.asked === 8);
    for (const pid of [program.pid, ...workers()]) process.kill(pid, "SIGTERM");
    await Bun.sleep(200);
    provider.release();
    expect(await Promise.all(calls)).toEqual(calls.map(() => 200));
    expect(await program.exited).toBe(0);
  });

  test("an unusable configuration ends all processes, with the reason", async () => {
    const place = join(folder, "wrong");
    await Bun.write(join(place, "trivium.yaml"), "storage: sqlite:/dev/null/none.db\n");
    const program = Bun.spawn([TRIVIUM, "serve", "--workers", "2"], {
      cwd: place,
      env: bareEnvironment(),
      stdout: "ignore",
      stderr: "pipe",
    });
    const [code, said] = await Promise.all([program.exited, program.stderr.text()]);
    expect(code).toBe(1);
    expect(said).toContain("The storage cannot be opened");
  });
});

describe("decision 0135: two workers do what one process does", () => {
  test("a reader of events at any worker sees the calls of both", async () => {
    const { url, adminUrl, database } = await startWorkers(2, keyWith({}));
    provider.release();
    const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
    const ended = new Set<string>();
    const stop = new AbortController();
    const { body } = await fetch(`${adminUrl}/api/events?type=call`, { headers, signal: stop.signal });
    const reading = (async () => {
      let text = "";
      const decoder = new TextDecoder();
      for await (const part of body ?? []) {
        text += decoder.decode(part, { stream: true });
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) {
          if (!line.startsWith("data: ")) continue;
          const event = JSON.parse(line.slice("data: ".length)) as { type: string; receipt: string };
          if (event.type === "call.ended") ended.add(event.receipt);
        }
      }
    })().catch(() => {});
    // The other worker learns a moment later that someone reads its events.
    await Bun.sleep(300);
    for (let call = 0; call < 40; call++) expect(await callOnce(url)).toBe(200);
    const rows = await ask(database, "SELECT id, instance FROM receipts");
    expect(new Set(rows.map((row) => row["instance"])).size).toBe(2);
    await eventually("the workers", () => rows.every((row) => ended.has(String(row["id"]))));
    stop.abort();
    await reading;
  });

  test("a video of the simulator is finished by either", async () => {
    const { url } = await startWorkers(2, keyWith({}), { simulator: true });
    const headers = { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" };
    const asked = JSON.stringify({ model: "sim/video", prompt: "a lighthouse" });
    const begun = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const response = await fetch(`${url}/v1/videos`, { method: "POST", headers, body: asked });
        return ((await response.json()) as { id: string }).id;
      }),
    );
    const statusOf = async (id: string) =>
      ((await (await fetch(`${url}/v1/videos/${id}`, { headers })).json()) as { status: string }).status;
    const isRunning = async (id: string) => ["queued", "in_progress"].includes(await statusOf(id));
    for (const id of begun) await eventually("the workers", async () => !(await isRunning(id)));
    expect(await Promise.all(begun.map(statusOf))).toEqual(begun.map(() => "completed"));
  });
});
