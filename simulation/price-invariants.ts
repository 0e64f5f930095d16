import type { Usage } from "../src/canon/usage.ts";
import { costAt, readKeptPrices } from "../src/catalogue/kept-prices.ts";
import { readReceipt } from "../src/storage/receipts/receipt-columns.ts";
import type { StoredRow } from "../src/storage/storage.ts";

/** Whatever happened to a call and the store, the prices that its row refers to exist and reproduce its cost. */
export function checkKeptPrices(
  rows: readonly StoredRow[],
  kept: readonly StoredRow[],
  onViolation: (rule: "cost is exact", what: string) => void,
): void {
  const texts = new Map(kept.map((row) => [String(row["id"]), String(row["content"])]));
  for (const row of rows) {
    const { id, pricedBy, usage, costNanoUsd } = readReceipt(row);
    // An operation that produced nothing has no prices.
    if (pricedBy === undefined && costNanoUsd === 0) continue;
    const parts = pricedBy === undefined ? [] : "id" in pricedBy ? [{ prices: pricedBy, usage }] : pricedBy;
    const cost = parts.reduce((sum, part) => sum + costOfPart(part.usage, texts.get(part.prices.id)), 0);
    if (cost !== costNanoUsd)
      onViolation("cost is exact", `${id} cost ${costNanoUsd}, and ${cost} by the prices that it kept`);
  }
}

const costOfPart = (usage: Usage, text: string | undefined): number =>
  text === undefined ? Number.NaN : costAt(usage, readKeptPrices(text));
