import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKey } from "../src/access/keys.ts";
import { createProject } from "../src/access/projects.ts";
import { system } from "../src/base/system.ts";
import { timePrefix } from "../src/base/timed-id.ts";
import { checkRollUps } from "../src/ledger/check-roll-ups.ts";
import { encodeRecord } from "../src/ledger/journal-records.ts";
import { text } from "../src/storage/columns.ts";
import { openStorage } from "../src/storage/open.ts";
import { sampleReceipt } from "../src/storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../src/storage/receipts/receipts.ts";
import { rollUpNext } from "../src/storage/receipts/roll-ups.ts";
import type { Parameter, Storage, StoredRow } from "../src/storage/storage.ts";
import { isPresent } from "../testing/is-present.ts";
import { makeDatabase, type PostgresDatabase, postgresServer } from "./support/postgres-database.ts";
import { runProgram, TRIVIUM } from "./support/program.ts";

const RECEIPTS = 11_500;
const CREATED_MS = Date.UTC(2026, 2, 3);
/** Tables that only describe the database or the processes running on it. */
const OWN = ["migrations", "instances", "instance_days", "rolled_up", "questions", "question_answers"];
const receiptAt = (index: number) =>
  sampleReceipt({
    id: `rcp_${timePrefix(CREATED_MS + index * 60_000)}${index}`,
    createdAtMs: CREATED_MS + index * 60_000,
    model: ["acme/llama", "a\u{1F600}b", "'; DROP TABLE receipts; --"][index % 3] ?? "",
    costNanoUsd: index,
    usage: index % 2 === 0 ? {} : { input: index, seconds: index / 3 },
  });

isPresent(postgresServer !== undefined, "trivium migrate, because TRIVIUM_TEST_POSTGRES is not set");

describe.skipIf(postgresServer === undefined)("trivium migrate: SQLite to PostgreSQL", () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-migrate-"));
  const source = `sqlite:${join(folder, "data", "trivium.db")}`;
  const targets: PostgresDatabase[] = [];
  beforeAll(async () => {
    writeFileSync(join(folder, "trivium.yaml"), "simulator: false\n");
    const storage = await openStorage(source, system.clock);
    await createProject(storage, { id: "team-a", limits: { budget_usd_per_day: 3 } }, system, { who: "test" });
    await createKey(storage, { name: "ci", project: "team-a" }, system, { who: "test" });
    for (let at = 0; at < RECEIPTS; at += 500) {
      await insertReceipts(
        storage,
        Array.from({ length: 500 }, (_, index) => receiptAt(at + index)),
      );
    }
    // As in a used gateway: some receipts are in the totals of their hours, others not yet.
    await rollUpNext(storage, receiptAt(RECEIPTS / 2).id, 1_000);
    for (const name of await tablesOf(storage)) await fill(storage, name);
    await storage.close();
    // Remains of a killed gateway.
    mkdirSync(join(folder, "data", "journal"));
    writeFileSync(join(folder, "data", "journal", "left.journal"), encodeRecord(receiptAt(RECEIPTS)));
  }, 180_000);
  afterAll(async () => {
    for (const target of targets) await target.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function target(): Promise<string> {
    const made = await makeDatabase({ isEmpty: true });
    targets.push(made);
    return made.url.href;
  }
  const migrate = (url: string) => runProgram(["migrate", "--to", url], { cwd: folder });

  test("every row of every table is copied unchanged; the same target is refused a second time", async () => {
    const url = await target();
    const first = await migrate(url);
    expect(first.stderr).toBe("");
    expect(first.code).toBe(0);
    expect(first.stdout).toContain("All rows were copied and verified.");
    expect(await differences(source, url)).toEqual([]);
    const storage = await openStorage(url, system.clock);
    expect(await storage.query("SELECT id FROM receipts WHERE id = ?", [receiptAt(RECEIPTS).id])).toHaveLength(1);
    expect((await checkRollUps(storage)).differences).toEqual([]);
    await storage.close();
    const second = await migrate(url);
    expect(second.code).not.toBe(0);
    expect(second.stderr).toMatch(/The target already has rows in \w+, so nothing was copied\. Use a database/);
    expect(await differences(source, url)).toEqual([]);
  });

  test("killed half way it leaves the target empty, and can be run again", async () => {
    const url = await target();
    const child = Bun.spawn([TRIVIUM, "migrate", "--to", url], { cwd: folder, stdout: "ignore", stderr: "ignore" });
    const watching = targets.at(-1);
    for (;;) {
      const rows: { one: number }[] =
        (await watching?.sql.unsafe(
          "SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'INSERT INTO receipts%'",
        )) ?? [];
      if (rows.length > 0 || child.exitCode !== null) break;
      await Bun.sleep(0);
    }
    expect(child.exitCode).toBeNull();
    child.kill("SIGKILL");
    await child.exited;
    const storage = await openStorage(url, system.clock);
    // The server ends the transaction when it notices that its connection is closed.
    for (const name of await tablesOf(storage)) {
      const count =
        name === "change_counters" ? undefined : await storage.query(`SELECT 1 AS one FROM ${name} LIMIT 1`);
      expect({ name, rows: count?.length ?? 0 }).toEqual({ name, rows: 0 });
    }
    await storage.close();
    expect((await migrate(url)).code).toBe(0);
    expect(await differences(source, url)).toEqual([]);
  });

  test("a target that is not PostgreSQL or is unreachable is refused in one sentence", async () => {
    for (const url of ["sqlite:other.db", "mysql://localhost/db"]) {
      const { code, stderr } = await migrate(url);
      expect(code).not.toBe(0);
      expect(stderr).toContain("--to must have the form postgres://user:password@host/database.");
    }
    const away = await migrate("postgres://trivium:hidden-password@127.0.0.1:1/nowhere");
    expect(away.code).not.toBe(0);
    expect(away.stderr).not.toContain("hidden-password");
    expect(away.stderr).toContain("127.0.0.1:1");
  });
});

/** For SQLite in order of creation: referenced tables come first. */
async function tablesOf(storage: Storage): Promise<string[]> {
  const rows = await storage.query(
    storage.engine === "sqlite"
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
      : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const names = rows.map((row) => text(row, "name")).filter((name) => !OWN.includes(name));
  const tables = names.filter((name) => !name.startsWith("receipt_"));
  // There, receipts are a view of several tables.
  return tables.length < names.length ? ["receipts", ...tables] : tables;
}

/** A row for an empty table, whatever its columns: this also covers future tables. */
async function fill(storage: Storage, table: string): Promise<void> {
  if ((await storage.query(`SELECT 1 AS one FROM ${table} LIMIT 1`)).length > 0) return;
  const columns = await storage.query(`SELECT name, type FROM pragma_table_info('${table}')`);
  const sampleOf = (type: string): Parameter => {
    if (/BLOB|BYTEA/i.test(type)) return new Uint8Array([0, 255, 10, 39]);
    return /TEXT/i.test(type) ? "é漢'\"" : 7;
  };
  const names = columns.map((row) => text(row, "name"));
  await storage.query(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    columns.map((row) => sampleOf(text(row, "type"))),
  );
}

/** Tables whose rows differ, compared as texts in any order. */
async function differences(fromUrl: string, toUrl: string): Promise<string[]> {
  const [from, to] = await Promise.all([fromUrl, toUrl].map((url) => openStorage(url, system.clock)));
  if (from === undefined || to === undefined) throw new Error("both were opened");
  try {
    const tables = await tablesOf(from);
    expect((await tablesOf(to)).sort()).toEqual(tables.toSorted());
    const different: string[] = [];
    for (const table of tables) {
      const [here, there] = await Promise.all([from, to].map((storage) => storage.query(`SELECT * FROM ${table}`)));
      const shown = (rows: readonly StoredRow[] = []) => rows.map(shownRow).sort().join("\n");
      expect(here?.length).toBeGreaterThan(0);
      if (shown(here) !== shown(there)) different.push(table);
    }
    return different;
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}

const shownRow = (row: StoredRow): string =>
  Object.keys(row)
    .sort()
    .map((name) => {
      const value = row[name];
      return `${name}=${value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value)}`;
    })
    .join("|");
