import { withoutAbsent } from "../../base/without-absent.ts";
import type { ReceiptFilter } from "../../storage/receipt-pages.ts";
import { momentField, moneyField, type QueryValues, textField, wrong } from "./query-fields.ts";

/** What lists and exports of receipts can be narrowed by: one grammar for both. */
export const RECEIPT_FIELDS = {
  model: textField("Only those of this model."),
  provider: textField("Only those of this provider."),
  key: textField("Only those of the key with this id."),
  project: textField("Only those of this project."),
  outcome: textField("Only those with this outcome: `ok`, `client_gone` or the kind of an error."),
  from: momentField("Not before."),
  to: momentField("Before."),
  min_cost: moneyField("Only those that cost at least this, in USD."),
  text: textField("The beginning of an id, or a part of a model's, provider's or key's name."),
};

export function receiptFilter(query: QueryValues<typeof RECEIPT_FIELDS>): ReceiptFilter {
  const { model, provider, key, project, outcome, from, to, min_cost, text } = query;
  if (from !== undefined && to !== undefined && from >= to) throw wrong("from", "must be before to");
  return withoutAbsent({
    model,
    provider,
    key,
    project,
    outcome,
    fromMs: from,
    toMs: to,
    minCostNanoUsd: min_cost,
    text,
  });
}
