import type { ReceiptItem } from "../api/types.ts";
import { money, usd } from "../format/money.ts";

type Billed = Pick<ReceiptItem, "cost_nano_usd" | "unpriced" | "usage" | "outcome" | "adjusts">;

/** What a call cost, told apart: nothing was billed, the price is unknown, or the price is zero. */
export function costWords({ cost_nano_usd: cost, unpriced, usage, outcome, adjusts }: Billed): {
  text: string;
  title: string;
} {
  if (cost !== 0) {
    const more = unpriced.length === 0 ? "" : `, without ${unpriced.join(", ")}, which has no known price`;
    return { text: unpriced.length === 0 ? money(cost) : `${money(cost)} +?`, title: usd(cost, 9) + more };
  }
  if (unpriced.length > 0) return { text: "unpriced", title: `No price is known for ${unpriced.join(", ")}` };
  const isUsed = Object.values(usage).some((amount) => typeof amount === "number" && amount > 0);
  if (!isUsed) return { text: "–", title: "Nothing was billed" };
  if (outcome === "ok" && adjusts === null) return { text: "free", title: "The price is zero" };
  return { text: "$0", title: "Nothing was billed" };
}
