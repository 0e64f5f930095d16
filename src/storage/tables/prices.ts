import type { KeptPrices, Receipt } from "../../canon/receipt.ts";
import { text } from "../columns.ts";
import type { Queries, Storage } from "../storage.ts";

/** The prices that are known to be stored, by store. */
const stored = new WeakMap<Storage, Set<string>>();
/** More than any catalogue has; a dropped entry is only written again. */
const MAX_KNOWN = 20_000;

/** Prices, and the time of a call that was billed by them. */
export interface NewPrices {
  prices: KeptPrices[];
  atMs: number;
}

/** The prices of these receipts that may not be stored yet; undefined in the usual case, without allocating. */
export function newPrices(storage: Storage, receipts: readonly Receipt[]): NewPrices | undefined {
  const known = knownOf(storage);
  let found: NewPrices | undefined;
  for (const receipt of receipts) {
    const { pricedBy } = receipt;
    if (pricedBy === undefined || ("id" in pricedBy && known.has(pricedBy.id))) continue;
    for (const prices of pricesOf(receipt)) {
      if (known.has(prices.id) || found?.prices.some(({ id }) => id === prices.id)) continue;
      found ??= { prices: [], atMs: receipt.createdAtMs };
      found.prices.push(prices);
    }
  }
  return found;
}

/** Call it before inserting the receipts: prices without a receipt do no harm, a receipt without its prices would. */
export async function keepPrices(storage: Storage, { prices, atMs }: NewPrices): Promise<void> {
  await insertPrices(storage, prices, atMs);
  const known = knownOf(storage);
  if (known.size + prices.length > MAX_KNOWN) known.clear();
  for (const { id } of prices) known.add(id);
}

function knownOf(storage: Storage): Set<string> {
  let known = stored.get(storage);
  if (known === undefined) {
    known = new Set();
    stored.set(storage, known);
  }
  return known;
}

/** The prices whose text is known: a receipt that was read from the ledger has only their ids. */
export function pricesOf({ pricedBy }: Receipt): KeptPrices[] {
  if (pricedBy === undefined) return [];
  const all = "id" in pricedBy ? [pricedBy] : pricedBy.map(({ prices }) => prices);
  return all.filter((prices) => prices.text !== undefined);
}

export async function insertPrices(queries: Queries, prices: readonly KeptPrices[], atMs: number): Promise<void> {
  const values = prices.map(() => "(?, ?, ?)").join(", ");
  await queries.query(
    `INSERT INTO prices (id, content, first_used_at_ms) VALUES ${values} ON CONFLICT (id) DO NOTHING`,
    prices.flatMap((one) => [one.id, one.text ?? "", Math.round(atMs)]),
  );
}

/** The text of the prices of that id. */
export async function selectPrices(queries: Queries, id: string): Promise<string | undefined> {
  const [row] = await queries.query("SELECT content FROM prices WHERE id = ?", [id]);
  return row === undefined ? undefined : text(row, "content");
}
