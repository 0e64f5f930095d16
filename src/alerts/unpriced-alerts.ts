import type { UnpricedUse } from "../storage/receipts/unpriced-uses.ts";
import { quotedName } from "./alert.ts";
import type { PassedThreshold } from "./budget-alerts.ts";

const DAY_MS = 86_400_000;
/** After a clock is set back, the alerts of that time must still be found. */
const KEPT_MS = 62 * DAY_MS;

/** Use without a known price, reported once a day for each key and name. */
export function unpricedAlert({
  keyId,
  name,
  model,
  provider,
  project,
  receiptId,
  calls,
  lastAtMs,
  ...use
}: UnpricedUse): PassedThreshold {
  const day = new Date(lastAtMs).toISOString().slice(0, "YYYY-MM-DD".length);
  return {
    claims: [JSON.stringify(["unpriced", keyId, name, day])],
    expiresAtMs: lastAtMs + KEPT_MS,
    draft: {
      type: "spend.unpriced",
      text: `The key ${quotedName(keyId)} used ${quotedName(name)} of ${model} at ${provider}, which has no known price: its cost is not in the ledger.`,
      data: {
        name,
        produced_by: use.producedBy === "" ? null : use.producedBy,
        key: keyId,
        project,
        model,
        provider,
        receipt: receiptId,
        calls,
        first_at: new Date(use.firstAtMs).toISOString(),
        last_at: new Date(lastAtMs).toISOString(),
      },
    },
  };
}
