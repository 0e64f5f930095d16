/**
 * `npm run crashes:exports`: a gateway that serves calls and exports their receipts is killed with SIGKILL again and again, while a file
 * is being written. In the end every receipt of the ledger is in the exported files, and each once after duplicates by id are removed.
 *
 * Options: --store sqlite|postgres (default sqlite), --kills N (default 50), --workers N (default 0), --format jsonl|focus (default
 * jsonl), --seed N.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { system } from "../../src/base/system.ts";
import { RECEIPT_PREFIX, timePrefix } from "../../src/base/timed-id.ts";
import { text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { sampleReceipt } from "../../src/storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../../src/storage/receipts/receipts.ts";
import { freePort } from "../../testing/free-port.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";
import { CrashingGateway } from "./crashing-gateway.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    kills: { type: "string", default: "50" },
    workers: { type: "string", default: "0" },
    format: { type: "string", default: "jsonl" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const kills = Number(values.kills);
let state = Number(values.seed);
const draw = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const folder = mkdtempSync(join(tmpdir(), "trivium-export-crashes-"));
const postgres = values.store === "postgres" ? await startPostgres() : undefined;
if (values.store === "postgres" && postgres === undefined)
  throw new Error("There is no PostgreSQL that can be started.");
mkdirSync(join(folder, "data"));
const storageUrl = postgres?.url ?? `sqlite:${join(folder, "data", "trivium.db")}`;
const exported = join(folder, "exported");

const provider = Bun.serve({
  port: 0,
  fetch: async () => {
    await Bun.sleep(draw(40));
    return Response.json(plainAnswer("chat", { text: "yes", usage: plainUsage("chat", 10, 10) }));
  },
});

const gateway = new CrashingGateway({
  folder,
  workers: Number(values.workers),
  config: {
    server: { port: freePort() },
    admin: { port: freePort(), secret: TEST_ADMIN_SECRET },
    storage: storageUrl,
    simulator: false,
    log: { calls: "off" },
    exports: [{ name: "crashed", to: `file:${exported}`, format: values.format, every: "1s" }],
    ...scriptedModels(`http://127.0.0.1:${provider.port}`),
  },
});

/** Old receipts, as from a journal: enough for a file that takes a while. */
const LATE_ROWS = 1_500;

async function addLateReceipts(): Promise<void> {
  const storage = await openStorage(storageUrl, system.clock);
  const receipts = Array.from({ length: LATE_ROWS }, () => {
    const createdAtMs = Date.now() - 1_000 - draw(3_600_000);
    return sampleReceipt({ id: RECEIPT_PREFIX + timePrefix(createdAtMs) + system.random.id(), createdAtMs });
  });
  for (let at = 0; at < receipts.length; at += 100) await insertReceipts(storage, receipts.slice(at, at + 100));
  await storage.close();
}

const filesIn = (): string[] => {
  try {
    return readdirSync(exported);
  } catch {
    return [];
  }
};
const isComplete = (name: string): boolean => !name.endsWith(".part");
const partsIn = (): number => filesIn().filter((name) => !isComplete(name)).length;

/** The id of each row of the visible files. */
function exportedIds(): string[] {
  return filesIn()
    .filter(isComplete)
    .flatMap((name) => {
      const lines = readFileSync(join(exported, name), "utf8").trimEnd().split(/\r?\n/);
      if (values.format === "jsonl") return lines.map((line) => (JSON.parse(line) as { id: string }).id);
      const column = lines[0]?.split(",").indexOf("x_receipt") ?? -1;
      if (column < 0) throw new Error(`${name} has no column x_receipt`);
      return lines.slice(1).map((line) => /rcp_[0-9A-Za-z_-]+/.exec(line)?.[0] ?? "");
    });
}

let duringFile = 0;
let rows = 0;
let duplicates = 0;
const missing: string[] = [];
const unknown: string[] = [];
const KILL_WITHIN_MS = 8_000;
const CAUGHT_UP_MS = 120_000;

try {
  await gateway.start();
  for (let killed = 0; killed < kills; killed++) {
    let isOver = false;
    const clients = Array.from({ length: 4 }, () => gateway.load(() => isOver));
    await addLateReceipts();
    const parts = partsIn();
    const files = filesIn().length;
    // While a file is being written, or right after it became visible.
    const wanted = draw(4) === 0 ? () => filesIn().length > files + 1 : () => partsIn() > parts;
    const untilMs = performance.now() + KILL_WITHIN_MS;
    while (!wanted() && performance.now() < untilMs) await Bun.sleep(1);
    await Bun.sleep(draw(30));
    const before = partsIn();
    await gateway.killAll();
    if (before > parts && partsIn() > parts) duringFile += 1;
    isOver = true;
    await Promise.all(clients);
    await gateway.start();
  }
  const storage = await openStorage(storageUrl, system.clock);
  const ledger = async () => new Set((await storage.query("SELECT id FROM receipts")).map((row) => text(row, "id")));
  const untilMs = performance.now() + CAUGHT_UP_MS;
  for (;;) {
    const stored = await ledger();
    const ids = exportedIds();
    const seen = new Set(ids);
    missing.splice(0, missing.length, ...[...stored].filter((id) => !seen.has(id)));
    unknown.splice(0, unknown.length, ...[...seen].filter((id) => !stored.has(id)));
    rows = stored.size;
    duplicates = ids.length - seen.size;
    if (missing.length === 0 || performance.now() > untilMs) break;
    await Bun.sleep(250);
  }
  await storage.close();
} finally {
  await gateway.stop();
  await provider.stop(true);
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
const lost = gateway.answered.length;
console.log(
  `${values.store}, seed ${values.seed}: ${rows} receipts of ${lost} answered calls and ${kills * LATE_ROWS} late rows, ${kills} kills, ${duringFile} of them while a file was written; ${duplicates} rows exported more than once`,
);
console.log(`${missing.length} receipts missing, ${unknown.length} unknown`);
for (const id of missing.slice(0, 10)) console.error(`not exported: ${id}`);
const isWell = missing.length === 0 && unknown.length === 0 && rows >= kills * LATE_ROWS;
console.log(isWell ? "all is well: no receipt is missing, and each is there once by its id" : "not as it should be");
process.exitCode = isWell ? 0 : 1;
