/**
 * `npm run crashes`: a gateway under load is killed with SIGKILL at a random moment, again and again, on one storage;
 * with workers, sometimes one of them and sometimes the first process. In the end every response whose last byte a
 * client has received has its row, there are no more rows than calls, totals match the rows, and nothing is left
 * reserved: all of the key's slots and budget can be used, and no more.
 *
 * The next start begins at once, while workers without a first process may still end.
 *
 * Options: --store sqlite|postgres (default sqlite), --runs N (default 100), --workers N (default none), --seed N; --kill gateway kills only
 * the first process, and --within MS fails if a start after that served later.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { system } from "../../src/base/system.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { number, text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { freePort } from "../../testing/free-port.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { HoldingProvider } from "../support/limit-race.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";
import { CrashingGateway } from "./crashing-gateway.ts";

const CLIENTS = 8;
const SLOTS = 12;
/** The maximum number of responses before a kill. */
const MOST_BEFORE = 200;
const ANSWERED_MS = 60_000;
/** At the prices of `scriptedModels`: 10 tokens there and 10 back. */
const COST_NANO_USD = 30_000;
/** The number of calls left in the budget at the end. */
const LEFT_CALLS = 60;

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    runs: { type: "string", default: "100" },
    workers: { type: "string", default: "0" },
    kill: { type: "string", default: "any" },
    within: { type: "string", default: "Infinity" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const runs = Number(values.runs);
const workers = Number(values.workers);
let state = Number(values.seed);
const draw = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const folder = mkdtempSync(join(tmpdir(), "trivium-crashes-"));
const postgres = values.store === "postgres" ? await startPostgres() : undefined;
if (values.store === "postgres" && postgres === undefined)
  throw new Error("There is no PostgreSQL that can be started.");
mkdirSync(join(folder, "data"));
const storageUrl = postgres?.url ?? `sqlite:${join(folder, "data", "trivium.db")}`;
const provider = new HoldingProvider();
const gateway = new CrashingGateway({
  folder,
  workers,
  config: {
    server: { port: freePort() },
    admin: { port: freePort(), secret: TEST_ADMIN_SECRET },
    storage: storageUrl,
    simulator: false,
    log: { calls: "off" },
    ...scriptedModels(provider.url),
  },
});
const kills = { gateway: 0, worker: 0 };
const keyWith = (limits: Readonly<Record<string, number>>) => [{ name: "tests", key: TEST_KEY, limits }];

/** Runs under load until the random moment; what is killed is random too. */
async function crashOnce(): Promise<void> {
  if (!gateway.isRunning) await gateway.start(keyWith({ concurrent: SLOTS, budget_usd_total: 1_000 }));
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, () => gateway.load(() => isOver));
  // Counted in responses: the number per second depends on the machine.
  const enough = gateway.answered.length + draw(MOST_BEFORE);
  for (const untilMs = performance.now() + ANSWERED_MS; gateway.answered.length < enough; await Bun.sleep(2)) {
    if (performance.now() > untilMs) throw new Error(`${enough} answers have not come in all`);
  }
  await Bun.sleep(draw(30));
  if (workers > 0 && values.kill !== "gateway" && draw(3) > 0) {
    await gateway.killWorker(draw);
    kills.worker += 1;
    // Sometimes the next one is killed while it is being replaced.
    if (draw(2) === 0) await gateway.allListen();
  } else {
    await gateway.kill();
    kills.gateway += 1;
  }
  isOver = true;
  await Promise.all(clients);
}

async function rowsOf(): Promise<{ id: string; costNanoUsd: number }[]> {
  const storage = await openStorage(storageUrl, system.clock);
  const rows = await storage.query("SELECT id, cost_nano_usd FROM receipts");
  await storage.close();
  return rows.map((row) => ({ id: text(row, "id"), costNanoUsd: number(row, "cost_nano_usd") }));
}

const sumOf = (rows: readonly { costNanoUsd: number }[]): number => rows.reduce((sum, row) => sum + row.costNanoUsd, 0);

/** How many of twice as many concurrent calls are admitted. */
async function slotsLeft(): Promise<number> {
  provider.hold();
  let ended = 0;
  const calls = Array.from({ length: 2 * SLOTS }, () => gateway.call().finally(() => ended++));
  while (provider.asked + ended < calls.length) await Bun.sleep(20);
  const { underWay } = provider;
  provider.release();
  await Promise.all(calls);
  return underWay;
}

/**
 * Spends the rest of the budget, with as many clients as before and then with one: if all workers are short at the
 * same time, each keeps its share of the last nano-dollars for a second.
 */
async function spendTheRest(): Promise<void> {
  const client = async (pauseMs: number) => {
    for (let refusals = 0; refusals < 4; await Bun.sleep(pauseMs)) {
      refusals = (await gateway.call()) === 402 ? refusals + 1 : 0;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, () => client(0)));
  await client(1_200);
}

const problems: string[] = [];
const expectThat = (holds: boolean, otherwise: string) => void (holds || problems.push(otherwise));
try {
  provider.release();
  for (let run = 1; run <= runs; run += 1) {
    await crashOnce();
    if (run % 10 === 0) console.log(`${run} kills, ${gateway.answered.length} answers of ${gateway.asked} calls`);
  }
  if (gateway.isRunning) await gateway.stop();
  // A start reads the journals of killed processes: after it, the spending is known.
  await gateway.start();
  await gateway.stop();
  const budgetNanoUsd = sumOf(await rowsOf()) + LEFT_CALLS * COST_NANO_USD;
  await gateway.start(keyWith({ concurrent: SLOTS, budget_usd_total: budgetNanoUsd / 1e9 }));
  const slots = await slotsLeft();
  await spendTheRest();
  await gateway.stop();
  const rows = await rowsOf();
  const storage = await openStorage(storageUrl, system.clock);
  const { differences } = await checkRollUps(storage);
  await storage.close();
  const ids = new Set(rows.map(({ id }) => id));
  const answered = new Set(gateway.answered);
  const missing = gateway.answered.filter((id) => !ids.has(id));
  const wrong = rows.filter(({ id, costNanoUsd }) => costNanoUsd !== COST_NANO_USD && answered.has(id));
  const left = budgetNanoUsd - sumOf(rows);
  expectThat(missing.length === 0, `${missing.length} answers without a row`);
  expectThat(ids.size === rows.length && rows.length <= gateway.asked, "rows that no call has");
  expectThat(wrong.length === 0, `${wrong.length} rows with another cost`);
  expectThat(differences.length === 0, `${differences.length} sums that are not those of the rows`);
  expectThat(slots === SLOTS, `${slots} of ${SLOTS} slots could be used`);
  expectThat(left >= 0 && left < 2 * COST_NANO_USD, `${left} nano-dollars of the budget are left`);
  const { servedMs, orphanedMs, calmMs } = gateway;
  const [slowestMs, longestMs, calmestMs] = [servedMs, orphanedMs, calmMs].map((all) =>
    Math.round(Math.max(0, ...all)),
  );
  expectThat((slowestMs ?? 0) <= Number(values.within), `a start served after ${slowestMs} ms`);
  const others = [...gateway.refused].map(([status, count]) => `${count} × ${status}`).join(", ") || "none";
  console.log(
    `${values.store}, ${workers} workers: ${kills.gateway} kills of the gateway and ${kills.worker} of a worker, seed ${values.seed}: ${gateway.asked} calls, ` +
      `${gateway.answered.length} answers received whole, ${rows.length} rows, refused: ${others}; ${slots} of ${SLOTS} slots, ${left} of ${budgetNanoUsd} nano-dollars left; starts after a kill served within ${slowestMs} ms, others within ${calmestMs} ms, workers outlived the first process by at most ${longestMs} ms; ` +
      (problems.join("; ") || "all is well"),
  );
} finally {
  if (gateway.isRunning) await gateway.stop();
  await provider.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(problems.length === 0 ? 0 : 1);
