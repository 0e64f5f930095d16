import { expect, test } from "bun:test";
import { SQL } from "bun";
import { isPresent } from "../../testing/is-present.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import { listReceipts, readReceipts } from "./receipt-pages.ts";
import { deleteOldReceipts } from "./retention.ts";

const server = process.env["TRIVIUM_TEST_POSTGRES"];
isPresent(Boolean(server), "PostgreSQL with the rules of a language, because TRIVIUM_TEST_POSTGRES is not set");
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 5, 1);

test.skipIf(!server)("receipts are found in a PostgreSQL database that sorts by a language's collation", async () => {
  const name = `trivium_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const sql = new SQL(server ?? "", { max: 1 });
  await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`);
  const url = new URL(server ?? "");
  url.pathname = `/${name}`;
  const storage = await openStorage(url.href, system.clock);
  try {
    const receipts = ["Zb", "aZ", "AA", "ab", "zz", "0x"].map((end, at) => {
      const createdAtMs = START_MS + Math.floor(at / 2) * 10 * DAY_MS;
      return sampleReceipt({ id: `rcp_${timePrefix(createdAtMs)}${end}`, createdAtMs });
    });
    const ids = receipts.map(({ id }) => id).sort();
    await insertReceipts(storage, receipts);
    const page = async (filter = {}) =>
      (await listReceipts(storage, filter, { limit: 9 })).receipts.map(({ id }) => id);
    expect(await page()).toEqual(ids.toReversed());
    expect(await page({ text: "rcp_" })).toEqual(ids.toReversed());
    expect(await page({ fromMs: START_MS + DAY_MS })).toEqual(ids.slice(2).reverse());
    expect((await Array.fromAsync(readReceipts(storage, {}))).flat().map(({ id }) => id)).toEqual(ids);
    const clock = { ...system.clock, wallMs: () => START_MS + 21 * DAY_MS };
    expect(await deleteOldReceipts({ storage, clock, retentionDays: 15 })).toBe(2);
    expect(await page()).toEqual(ids.slice(2).reverse());
  } finally {
    await storage.close();
    await sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await sql.close();
  }
});
