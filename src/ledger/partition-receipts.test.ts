import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { SQL } from "bun";
import { isPresent } from "../../testing/is-present.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import { checkRollUps } from "./check-roll-ups.ts";
import { listReceipts } from "./receipt-pages.ts";
import { deleteOldReceipts } from "./retention.ts";

const server = process.env["TRIVIUM_TEST_POSTGRES"];
isPresent(Boolean(server), "receipts divided by month, because TRIVIUM_TEST_POSTGRES is not set");
const file = new URL("../../deploy/postgres/partition-receipts.sql", import.meta.url);

test.skipIf(!server)(
  "deploy/postgres: receipts that are divided by month are written, read, swept and dropped",
  async () => {
    const name = `trivium_test_${crypto.randomUUID().replaceAll("-", "")}`;
    const admin = new SQL(server ?? "", { max: 1 });
    await admin.unsafe(`CREATE DATABASE ${name}`);
    const url = new URL(server ?? "");
    url.pathname = `/${name}`;
    const storage = await openStorage(url.href, system.clock);
    const sql = new SQL(url.href, { max: 1 });
    const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth()];
    /** So many months from now. */
    const monthMs = (months: number) => Date.UTC(year, month + months);
    const receipts = (at: string) =>
      [-2, 0, 1, 2, 40].map((months) =>
        sampleReceipt({ id: `rcp_${timePrefix(monthMs(months))}${at}`, createdAtMs: monthMs(months) }),
      );
    const stored = async () => (await listReceipts(storage, {}, { limit: 50 })).receipts.map(({ id }) => id);
    const isSummed = async () => (await checkRollUps(storage)).differences.length === 0;
    try {
      const [old, current] = receipts("a");
      if (old === undefined || current === undefined) throw new Error("there are no receipts");
      await insertReceipts(storage, [old, current]);
      await sql.begin((transaction) => transaction.unsafe(readFileSync(file, "utf8")));
      // The first of each month, and again, as after a lost response.
      for (let time = 0; time < 2; time++) await insertReceipts(storage, [old, ...receipts("b")]);
      const all = [old, current, ...receipts("b")].map(({ id }) => id).sort();
      expect(await stored()).toEqual(all.toReversed());
      const parts =
        await sql`SELECT tableoid::REGCLASS::TEXT AS part, CAST(COUNT(*) AS INTEGER) AS count FROM receipts GROUP BY 1`;
      const nameOf = (months: number) =>
        `receipts_${new Date(monthMs(months)).toISOString().slice(0, 7).replace("-", "_")}`;
      expect(
        Object.fromEntries(parts.map(({ part, count }: { part: string; count: number }) => [part, count])),
      ).toEqual({
        receipts_before: 4,
        [nameOf(1)]: 1,
        [nameOf(2)]: 1,
        receipts_of_other_months: 1,
      });
      expect(await isSummed()).toBe(true);
      const clock = { ...system.clock, wallMs: () => monthMs(0) };
      expect(await deleteOldReceipts({ storage, clock, retentionDays: 1 })).toBe(2);
      await sql`SELECT drop_receipts_before(${new Date(monthMs(2)).toISOString()})`;
      expect(
        (await stored()).filter((id) => id < `rcp_${timePrefix(monthMs(2))}` && id >= `rcp_${timePrefix(monthMs(1))}`),
      ).toEqual([]);
      expect(await isSummed()).toBe(true);
      await sql`SELECT add_receipt_months(2)`;
      const [last] = await sql`SELECT to_regclass(${nameOf(26)}) IS NOT NULL AS exists`;
      expect(last.exists).toBe(true);
    } finally {
      await storage.close();
      await sql.close();
      await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.close();
    }
  },
);
