/**
 * `bin/bun bench/large-ledger.ts [--rows 5000000] [--store sqlite|postgres]`: fills a storage of the version before roll-ups with receipts of 30 days, brings
 * it up to date, and measures what reports, pages and exports take.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { system } from "../src/base/system.ts";
import { TimeZone } from "../src/base/time-zone.ts";
import { exportReceipts } from "../src/ledger/export.ts";
import { summariseUsage } from "../src/ledger/queries.ts";
import { listReceipts } from "../src/ledger/receipt-pages.ts";
import { migrate } from "../src/storage/migrate.ts";
import { MIGRATIONS } from "../src/storage/migrations/index.ts";
import { openStorage } from "../src/storage/open.ts";
import { PostgresStorage } from "../src/storage/postgres.ts";
import { SqliteStorage } from "../src/storage/sqlite.ts";
import { START_SUMS_MS, type Storage } from "../src/storage/storage.ts";
import { startPostgres } from "../testing/postgres.ts";

const { values } = parseArgs({
  options: { rows: { type: "string", default: "5000000" }, store: { type: "string", default: "sqlite" } },
});
const rows = Number(values.rows);
const DAYS = 30;
const FIRST_MS = Date.UTC(2026, 5, 1);
const STEP_MS = Math.floor((DAYS * 86_400_000) / rows);
const folder = mkdtempSync(join(tmpdir(), "trivium-large-"));
const server = values.store === "postgres" ? await startPostgres() : undefined;
const url = server?.url ?? `sqlite:${join(folder, "large.db")}`;

/** Base 36 with nine digits, as ids begin. */
function idOf(engine: Storage["engine"], ms: string): string {
  const digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  const places = Array.from({ length: 9 }, (_, index) => 36 ** (8 - index));
  const substring = engine === "postgres" ? "substr" : "substr";
  return `'rcp_' || ${places.map((place) => `${substring}('${digits}', CAST((${ms}) / ${place} % 36 AS INTEGER) + 1, 1)`).join(" || ")}`;
}

async function fill(storage: Storage): Promise<void> {
  const ms = `(${FIRST_MS} + n * ${STEP_MS})`;
  const select = `SELECT ${idOf(storage.engine, ms)} || '-' || n, 'project-' || (n % 5), 'key_' || (n % 50), ${ms}, 'acme/m' || (n % 20),
    'host-' || (n % 4), 'upstream', 'generate', 'chat', 'messages', 'translated', 1,
    CASE WHEN n % 25 = 0 THEN 'upstream_failed' ELSE 'ok' END, 1000 + n % 500, 200 + n % 90, 'measured', '0.2 perMTokens prompt',
    1000 + n % 1000, 300 + n % 100, 900 + n % 1000, '[{"provider":"host","outcome":"answered","ms":40}]', '[]'`;
  const columns = `id, project, key_id, created_at_ms, model, provider, upstream_model, verb, client_dialect, upstream_dialect, lane, stream,
    outcome, usage_input, usage_output, usage_source, price_rule, cost_nano_usd, first_content_ms, total_ms, offers, fields`;
  const part = 250_000;
  for (let from = 0; from < rows; from += part) {
    const last = Math.min(rows, from + part) - 1;
    const numbers =
      storage.engine === "postgres"
        ? `(SELECT CAST(generate_series(${from}, ${last}) AS BIGINT) AS n) AS numbers`
        : `(WITH RECURSIVE numbers (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last}) SELECT n FROM numbers)`;
    await storage.query(`INSERT INTO receipts (${columns}) ${select} FROM ${numbers}`, [], START_SUMS_MS);
  }
}

async function measured<Result>(
  what: string,
  work: () => Promise<Result>,
  say: (result: Result) => string,
): Promise<void> {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const startedMs = performance.now();
  const result = await work();
  const ms = performance.now() - startedMs;
  const grown = (process.memoryUsage.rss() - before) / 1024 ** 2;
  console.log(`${what.padEnd(46)} ${ms.toFixed(0).padStart(8)} ms  ${grown.toFixed(0).padStart(6)} MB  ${say(result)}`);
}

try {
  const old =
    server === undefined
      ? await SqliteStorage.open(join(folder, "large.db"), system.clock)
      : await PostgresStorage.open(new URL(url), system.clock);
  const before = MIGRATIONS.findIndex(({ name }) => name === "roll-ups");
  await migrate(old, MIGRATIONS.slice(0, before), 1);
  await measured(
    `${values.store}: fill ${rows} rows`,
    () => fill(old),
    () => "",
  );
  await old.close();
  let storage!: Storage;
  await measured(
    "migration: sums of all rows",
    async () => {
      storage = await openStorage(url, system.clock);
    },
    () => "",
  );
  if (server !== undefined) await storage.query("ANALYZE", [], START_SUMS_MS);
  const [size] = await storage.query("SELECT COUNT(*) AS hours FROM usage_hours");
  console.log(`usage_hours has ${JSON.stringify(size)}`);
  const range = { sinceMs: FIRST_MS, untilMs: FIRST_MS + DAYS * 86_400_000 };
  const groups = (sums: readonly unknown[]) => `${sums.length} groups`;
  await measured("usage by model, 30 days", () => summariseUsage(storage, { ...range, by: ["model"] }), groups);
  await measured("usage by day, model", () => summariseUsage(storage, { ...range, by: ["day", "model"] }), groups);
  for (const name of ["Europe/Berlin", "Asia/Kolkata"]) {
    const zone = TimeZone.named(name);
    await measured(`usage by day, ${name}`, () => summariseUsage(storage, { ...range, by: ["day"], zone }), groups);
  }
  await measured(
    "usage by key, edges within hours",
    () =>
      summariseUsage(storage, { sinceMs: range.sinceMs + 1_234_567, untilMs: range.untilMs - 1_234_567, by: ["key"] }),
    groups,
  );
  const found = (page: Awaited<ReturnType<typeof listReceipts>>) =>
    `${page.receipts.length} rows${page.searchedBackToMs === undefined ? "" : ", bound reached"}`;
  for (const filter of [
    {},
    { key: "key_7" },
    { key: "key_7", model: "acme/m7" },
    { key: "key_of_none" },
    { text: "nothing" },
    { minCostNanoUsd: 5_000 },
  ]) {
    await measured(`50 receipts, ${JSON.stringify(filter)}`, () => listReceipts(storage, filter, { limit: 50 }), found);
  }
  const middle = { toMs: FIRST_MS + 15 * 86_400_000, key: "key_3" };
  await measured("50 receipts of a key from the middle", () => listReceipts(storage, middle, { limit: 50 }), found);
  for (const format of ["csv", "jsonl"] as const) {
    let highest = 0;
    await measured(
      `export of 1 day as ${format}`,
      async () => {
        let bytes = 0;
        const filter = { fromMs: FIRST_MS + 86_400_000, toMs: FIRST_MS + 2 * 86_400_000 };
        for await (const piece of exportReceipts(storage, filter, format)) {
          bytes += piece.length;
          highest = Math.max(highest, process.memoryUsage.rss());
        }
        return bytes;
      },
      (bytes) => `${(bytes / 1024 ** 2).toFixed(0)} MB written, rss at most ${(highest / 1024 ** 2).toFixed(0)} MB`,
    );
  }
  await storage.close();
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
