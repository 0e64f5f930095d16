import { withoutAbsent } from "../../../base/without-absent.ts";
import { anyForm, parseObjectId } from "../../../objects/object-id.ts";
import type { ReceiptFilter } from "../../../storage/receipts/receipt-pages.ts";
import { wrongField } from "../../wrong-field.ts";
import {
  endUserField,
  momentField,
  moneyField,
  oneOfField,
  type QueryField,
  type QueryValues,
  tagField,
  textField,
  wholeField,
} from "../query-fields.ts";

const batchField = (about: string): QueryField<string> => ({
  ...textField(about),
  read: (text, name) => {
    const named = parseObjectId(text);
    if (named?.kind !== "batch") throw wrongField(name, "must be the id of a batch, such as batch_…");
    return anyForm(named.kind, named.random);
  },
});

const requestField = (about: string): QueryField<string> => ({
  ...textField(about),
  read: (text, name) => {
    if (/^req_[0-9a-z]{9}[\w-]{1,60}$/.test(text)) return text;
    throw wrongField(name, "must be the id of a request, such as req_… in x-trivium-request-id");
  },
});

/** The filters of receipts, for lists and exports. */
export const RECEIPT_FIELDS = {
  model: textField("Only receipts of this model."),
  provider: textField("Only receipts of this provider."),
  key: textField("Only receipts of the key with this id."),
  project: textField("Only receipts of this project."),
  outcome: textField(
    "Only receipts with this outcome: `ok`, `client_gone`, the kind of an error, or `failed` for every error.",
  ),
  dialect: textField("Only receipts of clients with this dialect."),
  lane: oneOfField("Only receipts of this lane.", ["native", "translated"]),
  stream: oneOfField("Only streamed calls, or only others.", ["true", "false"]),
  from: momentField("Start of the range, inclusive."),
  to: momentField("Before."),
  min_cost: moneyField("Only calls that cost at least this, in USD."),
  min_ms: wholeField("Only calls that took at least this many milliseconds.", 0, 86_400_000),
  tag: tagField("Only receipts with this tag."),
  end_user: endUserField("Only receipts of this end user."),
  request_id: requestField("Only receipts of the request with this id, as in `x-trivium-request-id`."),
  cached: oneOfField("Only calls that the cache of responses has answered, or only others.", ["true", "false"]),
  batch: batchField("Only receipts of the lines of the batch with this id, in any of its forms."),
  session: textField("Only receipts of the turns of the live connection with this id."),
  guard: textField("Only calls in which the guard of this name found something."),
  text: textField(
    "The start of a receipt id, a request id (13 or more characters) or a trace id (16 or more), or part of the name of a model, provider or key.",
  ),
};

export function receiptFilter(query: QueryValues<typeof RECEIPT_FIELDS>): ReceiptFilter {
  const { model, provider, key, project, outcome, dialect, lane, stream } = query;
  const { from, to, min_cost, min_ms, tag, end_user: endUser, batch, session, text } = query;
  const { request_id: requestId, cached, guard } = query;
  if (from !== undefined && to !== undefined && from >= to) throw wrongField("from", "must be before to");
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
    endUser,
    requestId,
    cached: cached === undefined ? undefined : cached === "true",
    batch,
    session,
    guard,
    text,
  });
}
