/**
 * `npm run crashes`: a gateway under load is killed with SIGKILL at a random moment, again and again, on one storage. In the end every answer whose
 * last byte a client has received has its row, there are no more rows than calls, and sums are those of the rows.
 *
 * Options: --store sqlite|postgres (default sqlite), --runs N (default 100), --seed N.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { system } from "../../src/base/system.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { number, text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway } from "../support/client-calls.ts";
import { TRIVIUM } from "../support/program.ts";
import { sendJson, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { freePort, TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const CLIENTS = 8;
const START_MS = 60_000;
/** At the prices of `scriptedModels`. */
const COST_NANO_USD = 20_000;

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    runs: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const runs = Number(values.runs);
let state = Number(values.seed);
const draw = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const folder = mkdtempSync(join(tmpdir(), "trivium-crashes-"));
const postgres = values.store === "postgres" ? await startPostgres() : undefined;
if (values.store === "postgres" && postgres === undefined)
  throw new Error("There is no PostgreSQL that can be started.");
const storageUrl = postgres?.url ?? `sqlite:${join(folder, "data", "trivium.db")}`;
const upstream = await startScriptedUpstream();
upstream.play((_request, response) => {
  sendJson(response, plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 10, 5) }));
});
const [port, adminPort] = [await freePort(), await freePort()];
const url = `http://127.0.0.1:${port}`;
writeFileSync(
  join(folder, "trivium.yaml"),
  JSON.stringify({
    server: { port },
    admin: { port: adminPort, secret: TEST_ADMIN_SECRET },
    storage: storageUrl,
    simulator: false,
    log: { calls: "off" },
    keys: [{ name: "tests", key: TEST_KEY }],
    ...scriptedModels(upstream.url),
  }),
);

const answered: string[] = [];
let asked = 0;

async function start(): Promise<Bun.Subprocess> {
  const child = Bun.spawn([TRIVIUM, "serve"], { cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const untilMs = performance.now() + START_MS;
  for (;;) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined);
    if (ready?.status === 200) return child;
    if (performance.now() > untilMs || child.exitCode !== null) throw new Error("The gateway did not start.");
    await Bun.sleep(20);
  }
}

async function load(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    asked += 1;
    try {
      const answer = await callGateway(url, "chat", TEST_KEY, {});
      const id = answer.headers.get("x-trivium-receipt");
      await answer.text();
      if (answer.status === 200 && id !== null) answered.push(id);
    } catch {
      // It was killed meanwhile: whether there is a row is open.
    }
  }
}

let failed = false;
try {
  for (let run = 1; run <= runs; run += 1) {
    const child = await start();
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, () => load(() => isOver));
    await Bun.sleep(20 + draw(600));
    child.kill("SIGKILL");
    await child.exited;
    isOver = true;
    await Promise.all(clients);
    if (run % 10 === 0) console.log(`${run} kills, ${answered.length} answers of ${asked} calls`);
  }
  const last = await start();
  last.kill("SIGTERM");
  await last.exited;
  const storage = await openStorage(storageUrl, system.clock);
  const rows = await storage.query("SELECT id, cost_nano_usd FROM receipts");
  const { differences } = await checkRollUps(storage);
  await storage.close();
  const ids = new Set(rows.map((row) => text(row, "id")));
  const missing = answered.filter((id) => !ids.has(id));
  const wrong = rows.filter(
    (row) => number(row, "cost_nano_usd") !== COST_NANO_USD && answered.includes(text(row, "id")),
  );
  failed = missing.length + wrong.length + differences.length > 0 || rows.length > asked || ids.size < rows.length;
  console.log(
    `${values.store}: ${runs} kills, seed ${values.seed}: ${asked} calls, ${answered.length} answers received whole, ${rows.length} rows; ` +
      `${missing.length} answers without a row, ${rows.length - ids.size} rows twice, ${wrong.length} wrong costs, ${differences.length} wrong sums`,
  );
} finally {
  await upstream.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
