import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable, openObject } from "../../../dialects/reading/schema-builders.ts";
import { GuardVerdict } from "../../openapi/guard-verdict.ts";
import { BatchPosition, CachedAnswer, Timing } from "../../openapi/receipt.ts";
import { Timestamp } from "./answers.ts";
import { UsageAmounts } from "./usage.ts";

const OfferTried = Type.Object(
  {
    provider: Type.String(),
    credential: nullable(Type.String({ description: "The label of the credential, if the provider has several." })),
    outcome: Type.Enum(["answered", "failed", "abandoned"]),
    reason: nullable(Type.String({ description: "The error's kind if it failed." })),
    ms: Type.Number(),
    failure: nullable(openObject("The origin of the failure.")),
  },
  { title: "OfferTried" },
);

const PlannedOffer = Type.Object({
  provider: Type.String(),
  credential: nullable(Type.String()),
  model: nullable(Type.String()),
  place: Type.Integer(),
  why: Type.String(),
});

const FieldNote = Type.Object({
  path: Type.String(),
  action: Type.Enum(["approximated", "dropped"]),
  reason: Type.String(),
});

const ClientError = Type.Object(
  {
    message: Type.String(),
    path: nullable(Type.String({ description: "The invalid field of the request." })),
    code: nullable(Type.String()),
  },
  { title: "ClientError", description: "The error that the client received." },
);

const fields = {
  id: Type.String(),
  created_at: Timestamp,
  project: Type.String(),
  key: Type.String(),
  verb: Type.String(),
  model: Type.String(),
  provider: Type.String(),
  upstream_model: Type.String(),
  outcome: Type.String({ description: "`ok`, `client_gone` or the kind of an error." }),
  dialect: Type.Object({ client: Type.String(), upstream: Type.String() }),
  lane: Type.Enum(["native", "translated"]),
  stream: Type.Boolean(),
  stop: nullable(Type.Object({ unified: Type.String(), raw: Type.String() })),
  plan: nullable(Type.Array(PlannedOffer)),
  offers: Type.Array(OfferTried, { description: "Offers that were tried." }),
  continued: Type.Array(Type.Object({ provider: Type.String(), from_characters: Type.Integer() })),
  hedged: Type.Boolean(),
  answered_by: nullable(
    Type.String({ description: "The model that the answer names, if it is another one than was asked for." }),
  ),
  require: nullable(Type.Record(Type.String(), Type.String(), { description: "Traits that every offer had to have." })),
  guards: Type.Array(GuardVerdict, { description: "What guards found in the request and the response." }),
  fields: Type.Array(FieldNote, { description: "Fields of the request that were not honoured exactly." }),
  tags: Type.Array(Type.String(), { description: "Tags of the call and its key." }),
  end_user: nullable(Type.String({ description: "Who used the client's program, as the request said." })),
  usage: UsageAmounts,
  usage_source: Type.String(),
  cached: Type.Boolean({ description: "A stored response answered." }),
  saved_nano_usd: Type.Integer({ description: "What the stored response cost when it was made." }),
  cached_answer: nullable(CachedAnswer),
  reported: nullable(UsageAmounts),
  usage_corrections: Type.Array(Type.String(), {
    description: "Why the usage reported by the provider cannot be true; `reported` has that usage.",
  }),
  price_rule: Type.String(),
  cost_usd: Type.Number(),
  cost_nano_usd: Type.Integer(),
  unpriced: Type.Array(Type.String(), { description: "Use without a known price." }),
  first_content_ms: nullable(Type.Number()),
  total_ms: Type.Number(),
  timing: nullable(Timing),
  request_id: nullable(Type.String({ description: "The value of the header `x-trivium-request-id`." })),
  session_id: nullable(Type.String({ description: "The live connection that the call was a turn of." })),
  trace_id: nullable(Type.String()),
  batch: nullable(BatchPosition),
  error: nullable(ClientError),
  stopped_by: nullable(Type.String({ description: "The operator who stopped the call, as in the audit log." })),
  instance: nullable(Type.String({ description: "The process that wrote it." })),
  adjusts: nullable(Type.String({ description: "The receipt that this one corrects." })),
};

export const ReceiptItem = Type.Object(fields, {
  title: "ReceiptItem",
  description: "Includes everything that clients see at GET /api/v1/generation.",
});

const PriceLine = Type.Object({
  counter: Type.String({ description: "As in `usage`." }),
  amount: Type.Number(),
  price_usd: nullable(Type.Number({ description: "Null if it has no price." })),
  unit: Type.String(),
  cost_nano_usd: Type.Integer({ description: "Of this line, rounded; the total is rounded only once." }),
});

const BilledPart = Type.Object(
  {
    lines: Type.Array(PriceLine),
    terms: Type.Array(Type.String()),
    multiple: Type.Number({ description: "The factor that the cost of tokens is multiplied by." }),
    discount_basis_points: Type.Integer(),
    cost_nano_usd: Type.Integer(),
  },
  { title: "BilledPart" },
);

export const ReceiptDetail = Type.Object(
  {
    ...fields,
    captured: Type.Boolean({ description: "Bodies of the call are kept: see GET /api/receipts/{id}/bodies." }),
    priced: nullable(
      Type.Array(BilledPart, {
        description: "How the cost is computed from the usage: one part, or one for each offer.",
      }),
    ),
  },
  { title: "ReceiptDetail" },
);

export type ReceiptDetail = Static<typeof ReceiptDetail>;
export type ReceiptItem = Static<typeof ReceiptItem>;
