import { withoutAbsent } from "../../base/without-absent.ts";
import type { ReceiptFilter } from "../../storage/receipts/receipt-pages.ts";
import {
  momentField,
  moneyField,
  oneOfField,
  type QueryValues,
  tagField,
  textField,
  wholeField,
  wrong,
} from "./query-fields.ts";

/** What lists and exports of receipts can be narrowed by: one grammar for both. */
export const RECEIPT_FIELDS = {
  model: textField("Only those of this model."),
  provider: textField("Only those of this provider."),
  key: textField("Only those of the key with this id."),
  project: textField("Only those of this project."),
  outcome: textField(
    "Only those with this outcome: `ok`, `client_gone`, the kind of an error, or `failed` for every error.",
  ),
  dialect: textField("Only those whose client speaks this dialect."),
  lane: oneOfField("Only those in this lane.", ["native", "translated"]),
  stream: oneOfField("Only those that were streamed, or were not.", ["true", "false"]),
  from: momentField("Not before."),
  to: momentField("Before."),
  min_cost: moneyField("Only those that cost at least this, in USD."),
  min_ms: wholeField("Only those that took at least so many milliseconds.", 0, 86_400_000),
  tag: tagField("Only those with this tag."),
  text: textField(
    "The beginning of a receipt id, a request id (13 or more characters) or a trace id (16 or more), or a part of the name of a model, provider or key.",
  ),
};

export function receiptFilter(query: QueryValues<typeof RECEIPT_FIELDS>): ReceiptFilter {
  const { model, provider, key, project, outcome, dialect, lane, stream, from, to, min_cost, min_ms, tag, text } =
    query;
  if (from !== undefined && to !== undefined && from >= to) throw wrong("from", "must be before to");
  return withoutAbsent({
    model,
    provider,
    key,
    project,
    outcome,
    dialect,
    lane,
    stream: stream === undefined ? undefined : stream === "true",
    minTotalMs: min_ms,
    fromMs: from,
    toMs: to,
    minCostNanoUsd: min_cost,
    tag,
    text,
  });
}
