import { afterAll, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import { checkRollUps } from "../ledger/check-roll-ups.ts";
import { copyStorage } from "./copy-storage.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { openStorage } from "./open.ts";
import { PostgresStorage } from "./postgres.ts";
import { sampleReceipt } from "./receipts/receipt.sample.ts";
import { insertReceipts, selectReceipt } from "./receipts/receipts.ts";
import { rollUpNext } from "./receipts/roll-ups.ts";
import { sumCostByKey } from "./receipts/usage-sums.ts";
import { SqliteStorage } from "./sqlite.ts";
import type { Parameter, Queries, Storage } from "./storage.ts";
import { selectKeys } from "./tables/keys.ts";
import { readSetting } from "./tables/settings.ts";

const CREATED_MS = Date.UTC(2026, 2, 3, 4, 5);
const idOf = (number: number): string => `rcp_${timePrefix(CREATED_MS)}${number}`;

const sinceOf = (migration: string): number => MIGRATIONS.find(({ name }) => name === migration)?.version ?? 0;
/** The versions at which rows change their form: earlier, a project had only a name and no id. */
const ACCOUNTS_SINCE = sinceOf("accounts");
const SUMS_SINCE = sinceOf("roll-ups");

async function connect(url: string): Promise<Storage> {
  const file = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : undefined;
  return file === undefined
    ? PostgresStorage.open(new URL(url), system.clock, 2)
    : SqliteStorage.open(file, system.clock);
}

async function insert(queries: Queries, table: string, row: Readonly<Record<string, Parameter>>): Promise<void> {
  const names = Object.keys(row);
  await queries.query(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    Object.values(row),
  );
}

/** Rows as the first version wrote them. */
async function fill(storage: Storage, version: number, receipts: readonly number[]): Promise<void> {
  const ids = version < ACCOUNTS_SINCE ? { name: "team-a" } : { id: "team-a", name: "Team A" };
  await insert(storage, "projects", { ...ids, created_at_ms: 1_000 });
  await insert(storage, "api_keys", {
    id: "key_1",
    name: "ci",
    project: "team-a",
    hash: "a".repeat(64),
    hint: "wxyz",
    models: '["acme/*"]',
    protocols: '["chat"]',
    limits: '{"requestsPerMinute":7,"budgetUsdPerDay":0.25}',
    created_at_ms: 2_000,
  });
  await insert(storage, "settings", { name: "admin_secret", value: "hash" });
  for (const number of receipts) {
    await insert(storage, "receipts", {
      id: idOf(number),
      project: "team-a",
      key_id: "key_1",
      created_at_ms: CREATED_MS + number,
      model: "acme/llama",
      provider: "my-vllm",
      upstream_model: "llama-3",
      verb: "generate",
      client_dialect: "chat",
      upstream_dialect: "messages",
      lane: "translated",
      stream: 1,
      outcome: "ok",
      usage_input: 1_200,
      usage_output: number === 1 ? null : 300,
      usage_seconds: 7.5,
      usage_source: "measured",
      price_rule: "0.2 perMTokens prompt",
      cost_nano_usd: 420_000 * number,
      total_ms: 131,
      offers: "[]",
      fields: "[]",
    });
  }
}

function migrationsContract(databases: TestDatabases): void {
  describe(`migrations on ${databases.engine}`, () => {
    afterAll(() => databases.clear());

    test.each([1, ACCOUNTS_SINCE, SUMS_SINCE, MIGRATIONS.length])(
      "H21: rows written by version %i survive all later migrations, and new ones can be added",
      async (version) => {
        const url = await databases.fresh();
        const old = await connect(url);
        await migrate(old, MIGRATIONS.slice(0, version), 1);
        // In SQLite, from that version on the writer of receipts also writes the sums.
        const receipts = databases.engine === "postgres" || version < SUMS_SINCE ? [1, 2] : [];
        await fill(old, version, receipts);
        await old.close();
        const storage = await openStorage(url, system.clock);
        try {
          await expectFilled(storage, receipts.length > 0);
          await insertReceipts(storage, [sampleReceipt({ id: idOf(3), createdAtMs: CREATED_MS, project: "team-a" })]);
          expect(await checkRollUps(storage)).toMatchObject({ differences: [] });
        } finally {
          await storage.close();
        }
      },
    );

    test("H29: without pending migrations, no lock is taken and no statement gets a longer timeout", async () => {
      const storage = await openStorage(await databases.fresh(), system.clock);
      try {
        const limits: (number | undefined)[] = [];
        const watched: Storage = Object.assign(Object.create(storage) as Storage, {
          transaction: () => expect.unreachable("no transaction"),
          query: (text: string, parameters?: readonly Parameter[], limitMs?: number) => {
            limits.push(limitMs);
            return storage.query(text, parameters, limitMs);
          },
        });
        await migrate(watched, MIGRATIONS, 1);
        expect(limits).toEqual([undefined, undefined]);
      } finally {
        await storage.close();
      }
    });
  });
}

async function expectFilled(storage: Storage, withReceipts: boolean): Promise<void> {
  const [key] = await selectKeys(storage);
  expect(key).toMatchObject({
    id: "key_1",
    project: "team-a",
    models: ["acme/*"],
    protocols: ["chat"],
    limits: { requestsPerMinute: 7, budgetUsdPerDay: 0.25 },
  });
  expect(await readSetting(storage, "admin_secret")).toBe("hash");
  if (!withReceipts) return;
  expect(await selectReceipt(storage, "team-a", idOf(1))).toMatchObject({
    createdAtMs: CREATED_MS + 1,
    usage: { input: 1_200, seconds: 7.5 },
    costNanoUsd: 420_000,
  });
  const rows = await storage.query("SELECT calls, cost_nano_usd, usage_output FROM usage_days");
  expect(rows.map((row) => Object.values(row).map(Number))).toEqual([[2, 1_260_000, 300]]);
  const [spent] = await sumCostByKey(storage, { dayMs: 0, weekMs: 0, monthMs: 0, quarterMs: 0 });
  expect(spent).toMatchObject({ keyId: "key_1", project: "team-a", total: 1_260_000 });
}

const everywhere = testDatabases("migrations");
for (const databases of everywhere) migrationsContract(databases);

const [sqlite, postgres] = everywhere;
describe.skipIf(postgres === undefined)("SQLite to PostgreSQL", () => {
  afterAll(async () => {
    await Promise.all(everywhere.map((databases) => databases.clear()));
  });

  async function both(): Promise<{ source: Storage; target: Storage; url: string }> {
    const url = (await postgres?.fresh()) ?? "";
    return {
      source: await openStorage((await sqlite?.fresh()) ?? "", system.clock),
      target: await openStorage(url, system.clock),
      url,
    };
  }

  const hostile = ["'; DROP TABLE receipts; --", "a\0b", "é漢🙂", ""];
  const receipts = Array.from({ length: 1_003 }, (_, index) =>
    sampleReceipt({
      id: `rcp_${timePrefix(CREATED_MS + index)}${index}`,
      createdAtMs: CREATED_MS + index,
      model: hostile[index % hostile.length] ?? "",
      usage: index % 2 === 0 ? {} : { input: index, seconds: index / 3 },
    }),
  );

  test("every row of every table is copied, including sums and secrets, and nothing is summed twice", async () => {
    const { source, target } = await both();
    await insertReceipts(source, receipts);
    await insert(source, "settings", { name: "secret", value: "kept" });
    // As after retention, with sums of deleted receipts; and as in a running gateway, with receipts that no sum
    // includes yet.
    await rollUpNext(source, receipts[500]?.id ?? "", 1_000);
    await source.query("DELETE FROM receipt_rows WHERE id < ?", [receipts[10]?.id ?? ""]);
    const copied = await copyStorage(source, target);
    expect(copied.find(({ table }) => table === "receipts")?.rows).toBe(993);
    expect(await readSetting(target, "secret")).toBe("kept");
    const last = receipts.at(-1) ?? sampleReceipt();
    expect(await selectReceipt(target, "default", last.id)).toEqual(last);
    const sums = "SELECT SUM(calls) AS calls, SUM(cost_nano_usd) AS cost FROM usage_hours";
    const [[here], [there]] = [await source.query(sums), await target.query(sums)];
    expect(Object.values(there ?? {}).map(Number)).toEqual(Object.values(here ?? {}).map(Number));
    const ofTags =
      "SELECT tag, SUM(calls) AS calls, SUM(cost_nano_usd) AS cost FROM tag_hours GROUP BY tag ORDER BY tag";
    const shown = async (storage: Storage) =>
      (await storage.query(ofTags)).map((row) => [row["tag"], Number(row["calls"]), Number(row["cost"])]);
    expect(await shown(target)).toEqual([
      ["feature=search", 1_003, 1_003 * 420_000],
      ["team-a", 1_003, 1_003 * 420_000],
    ]);
    expect(await shown(target)).toEqual(await shown(source));
    // The trigger is back in place.
    await insertReceipts(target, [sampleReceipt({ id: idOf(9), createdAtMs: CREATED_MS })]);
    const [after] = await target.query(sums);
    expect(Number(after?.["calls"])).toBe(1_004);
    await Promise.all([source.close(), target.close()]);
  });

  test("a target with rows is rejected, and stays empty if a copy fails", async () => {
    const { source, target } = await both();
    await insertReceipts(source, receipts.slice(0, 300));
    await insertReceipts(target, receipts.slice(0, 1));
    await expect(copyStorage(source, target)).rejects.toThrow("already has rows in receipts");
    expect(await target.query("SELECT id FROM receipts")).toHaveLength(1);
    await target.close();
    const other = await openStorage((await postgres?.fresh()) ?? "", system.clock);
    await other.query("ALTER TABLE receipts ADD CONSTRAINT cheap CHECK (usage_input IS NULL OR usage_input < 299)");
    await expect(copyStorage(source, other)).rejects.toThrow("cheap");
    expect(await other.query("SELECT id FROM receipts")).toHaveLength(0);
    expect(await other.query("SELECT day FROM usage_days")).toHaveLength(0);
    await Promise.all([source.close(), other.close()]);
  });
});
