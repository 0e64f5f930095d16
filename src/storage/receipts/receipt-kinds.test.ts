import { afterEach, expect, test } from "bun:test";
import { system } from "../../base/system.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { migrate } from "../migrate.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import { SqliteStorage } from "../sqlite.ts";
import type { Storage } from "../storage.ts";
import { sampleReceipt } from "./receipt.sample.ts";
import { RECEIPT_COLUMNS, receiptValues } from "./receipt-columns.ts";
import { deleteReceiptsBefore, insertReceipt, insertReceipts, selectReceipt } from "./receipts.ts";

const LATEST = MIGRATIONS.at(-1)?.version ?? 0;
const BEFORE = MIGRATIONS.findIndex(({ name }) => name === "receipt-kinds");

let open: Storage[] = [];
afterEach(async () => {
  await Promise.all(open.map((storage) => storage.close()));
  open = [];
});

async function openAt(version: number): Promise<Storage> {
  const storage = await SqliteStorage.open(":memory:", system.clock);
  open.push(storage);
  await migrate(
    storage,
    MIGRATIONS.filter((migration) => migration.version <= version),
    1,
  );
  return storage;
}

const count = async (storage: Storage, table: string) =>
  Number((await storage.query(`SELECT COUNT(*) AS count FROM ${table}`))[0]?.["count"]);

const parts: Receipt["pricedBy"] = [
  { prices: { id: "p1" }, usage: { input: 3 } },
  { prices: { id: "p2" }, usage: { output: 4 } },
];
const without = (...names: (keyof Receipt)[]): Receipt => {
  const receipt: Partial<Receipt> = { ...sampleReceipt() };
  for (const name of names) delete receipt[name];
  return receipt as Receipt;
};

/** Each differs from the first in one value, or lacks one. */
const DIFFERENT: readonly Partial<Receipt>[] = [
  {},
  { project: "other" },
  { key: "key_other" },
  { model: "other/model" },
  { provider: "other" },
  { upstreamModel: "other" },
  { verb: "count_tokens" },
  { clientDialect: "genai" },
  { upstreamDialect: "responses" },
  { lane: "native" },
  { stream: !sampleReceipt().stream },
  { outcome: "upstream_failed" },
  { stop: { unified: "length", raw: "length" } },
  { usageSource: "partial" },
  { priceRule: "another" },
  { pricedBy: { id: "another" } },
  { pricedBy: parts },
  { instance: "instance_other" },
  { adjusts: "rcp_0" },
];
const receipts = [
  ...DIFFERENT.map((change) => sampleReceipt(change)),
  without("stop"),
  without("pricedBy"),
  without("instance"),
  without("tags"),
  ...DIFFERENT.map((change) => sampleReceipt(change)),
].map((receipt, index) => ({ ...receipt, id: `rcp_${String(index).padStart(3, "0")}`, createdAtMs: 1_000 + index }));

test("receipts that were stored in one table read the same from their kinds, in every column", async () => {
  const storage = await openAt(BEFORE);
  // Columns that later migrations add come last.
  const columns = (await storage.query("SELECT name FROM pragma_table_info('receipts')")).length;
  const names = RECEIPT_COLUMNS.slice(0, columns).map(({ name }) => name);
  const marks = names.map(() => "?").join(", ");
  for (const receipt of receipts) {
    const values = receiptValues(receipt).slice(0, columns);
    await storage.query(`INSERT INTO receipts (${names.join(", ")}) VALUES (${marks})`, values);
  }
  const rows = () => storage.query(`SELECT ${names.join(", ")} FROM receipts ORDER BY id`);
  const before = await rows();
  expect(before).toHaveLength(receipts.length);
  await migrate(storage, MIGRATIONS, 1);
  expect(await rows()).toEqual(before);
});

test("every value of a receipt is stored, and similar receipts share them", async () => {
  const [written, singly] = [await openAt(LATEST), await openAt(LATEST)];
  await insertReceipts(written, receipts.slice(0, 7));
  await insertReceipts(written, receipts);
  for (const receipt of receipts) {
    await singly.transaction((queries) => insertReceipt(queries, receipt, "sqlite"));
  }
  for (const storage of [written, singly]) {
    for (const receipt of receipts) expect(await selectReceipt(storage, receipt.project, receipt.id)).toEqual(receipt);
    expect(await count(storage, "receipt_rows")).toBe(receipts.length);
    // Neither the writer, nor a correction, nor prices of parts make another kind; a missing stop reason does.
    expect(await count(storage, "receipt_kinds")).toBe(DIFFERENT.length - 3 + 1);
    expect(await count(storage, "receipt_writers")).toBe(2);
  }
});

test("whatever a host sends, each receipt is read back with its own values", async () => {
  const storage = await openAt(LATEST);
  const odd = Array.from({ length: 50 }, (_, index) =>
    sampleReceipt({
      id: `rcp_${index}`,
      stop: { unified: "stop", raw: `\0'"${index}` },
      priceRule: index % 2 ? "" : "é",
    }),
  );
  await insertReceipts(storage, odd);
  for (const receipt of odd) expect(await selectReceipt(storage, receipt.project, receipt.id)).toEqual(receipt);
});

test("receipts are deleted by age, and the remaining ones keep their values", async () => {
  const storage = await openAt(LATEST);
  const old = sampleReceipt({ id: "rcp_000000001", createdAtMs: 1 });
  const young = sampleReceipt({ id: "rcp_0mwjkjm9h", createdAtMs: 1_790_000_000_000 });
  await insertReceipts(storage, [old, young]);
  await storage.query("UPDATE rolled_up SET until_id = '~'");
  expect(await deleteReceiptsBefore(storage, 1_780_000_000_000, { afterId: "", limit: 10 })).toMatchObject({
    count: 1,
  });
  expect(await selectReceipt(storage, old.project, old.id)).toBeUndefined();
  expect(await selectReceipt(storage, young.project, young.id)).toEqual(young);
});
