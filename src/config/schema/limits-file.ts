import { MAX_BUDGET_USD } from "../../base/key-bounds.ts";
import { Type } from "../../base/type.ts";
import { Count, closed } from "./fields.ts";

const Budget = Type.Number({ minimum: 0, maximum: MAX_BUDGET_USD });

const PART_LIMIT_FIELDS = {
  requests_per_minute: Type.Optional(Count),
  tokens_per_minute: Type.Optional(Count),
  requests_per_day: Type.Optional(Count),
  tokens_per_day: Type.Optional(Count),
  concurrent: Type.Optional(Count),
  budget_usd_per_day: Type.Optional(Budget),
  budget_usd_per_week: Type.Optional(Budget),
  budget_usd_per_month: Type.Optional(Budget),
  budget_usd_per_quarter: Type.Optional(Budget),
  budget_usd_total: Type.Optional(Budget),
};

/** What a key, or all keys together, may use. */
export const LimitsFile = Type.Object({ ...PART_LIMIT_FIELDS, sessions: Type.Optional(Count) }, closed);

/** What a part of the calls may use. */
const PartLimitsFile = Type.Object(PART_LIMIT_FIELDS, closed);
export const EndUsersFile = Type.Object(
  { limits: Type.Optional(PartLimitsFile), required: Type.Optional(Type.Boolean()) },
  closed,
);
export const ModelPatternsFile = Type.Record(Type.String({ pattern: "^[\\x21-\\x7e]{1,200}$" }), PartLimitsFile);
export const TagPatternsFile = Type.Record(Type.String({ pattern: "^[A-Za-z0-9_.:=/*-]{1,64}$" }), PartLimitsFile);
