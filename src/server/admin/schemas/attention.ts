import type { Static } from "typebox";
import { LEVEL_NAMES } from "../../../access/level.ts";
import { BUDGET_WINDOWS } from "../../../access/spend-meter.ts";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";
import { LastError } from "./last-error.ts";

const finding = {
  severity: Type.Enum(["bad", "warn"], { description: "`bad`: calls fail now, or are refused." }),
  since: nullable(Timestamp),
};

const NotReady = Type.Object({ kind: Type.Literal("not_ready"), ...finding, reason: Type.String() });
const Degraded = Type.Object({ kind: Type.Literal("degraded"), ...finding, reason: Type.String() });

const ProviderDown = Type.Object({
  kind: Type.Literal("provider_down"),
  ...finding,
  provider: Type.String(),
  credential: nullable(Type.String({ description: "Null if all of them are out of use, or there is only one." })),
  models: Type.Array(Type.String(), { description: "The provider's own names of the models that are out of use." }),
  until: nullable(Type.String({ description: "When a call may try it again; null if the next one may." })),
  error: nullable(LastError),
});

const BudgetUsed = Type.Object({
  kind: Type.Literal("budget"),
  ...finding,
  level: Type.Enum([...LEVEL_NAMES]),
  id: Type.String({ description: "Of the key or project; `gateway` for all of them." }),
  name: Type.String(),
  window: Type.Enum([...BUDGET_WINDOWS]),
  spent_nano_usd: Type.Integer(),
  limit_nano_usd: Type.Integer(),
  used_percent: Type.Integer(),
  forecast_nano_usd: nullable(
    Type.Integer({
      description: "At the end of the window if spending continues at this rate; null in the first twentieth of it.",
    }),
  ),
  exceeds_at: nullable(Type.String({ description: "When it is used up at this rate, if before the end." })),
  ends_at: nullable(Timestamp),
});

const UnpricedSpend = Type.Object({
  kind: Type.Literal("unpriced"),
  ...finding,
  names: Type.Array(Type.String(), { description: "What has no known price: at most five names, latest first." }),
  more: Type.Integer({ description: "How many names are not listed; at least this many." }),
  model: Type.String({ description: "Of the last call, like the next three fields." }),
  provider: Type.String(),
  key: Type.String(),
  receipt: Type.String(),
  last_at: Timestamp,
});

const ManyRefusals = Type.Object({
  kind: Type.Literal("refusals"),
  ...finding,
  requests: Type.Integer({ description: "Refused in the last hour, for any reason." }),
  reason: Type.String({ description: "The most frequent one." }),
  reason_requests: Type.Integer(),
  key: nullable(Type.String({ description: "The key with the most of these; null for requests without a known key." })),
  key_requests: Type.Integer(),
});

const ExportFailing = Type.Object({
  kind: Type.Literal("export_failing"),
  ...finding,
  name: Type.String(),
  failures: Type.Integer({ description: "Since the last success." }),
  error: nullable(Type.String()),
});

const AlertFailing = Type.Object({
  kind: Type.Literal("alert_failing"),
  ...finding,
  webhook: Type.String(),
  tries: Type.Integer({ description: "Of the last alert." }),
  tried_at: nullable(Timestamp),
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
});

const ConfigRefused = Type.Object({
  kind: Type.Literal("config_refused"),
  ...finding,
  file: nullable(Type.String()),
  line: nullable(Type.Integer()),
  message: Type.String(),
});

const PricesOld = Type.Object({
  kind: Type.Literal("prices_old"),
  ...finding,
  prices: Type.Integer({ description: "How many prices in force are that old." }),
  model: Type.String({ description: "Of the oldest one." }),
  provider: Type.String(),
  as_of: Type.String(),
  days: Type.Integer(),
});

export const Finding = Type.Union(
  [
    NotReady,
    ProviderDown,
    BudgetUsed,
    Degraded,
    ExportFailing,
    AlertFailing,
    ConfigRefused,
    UnpricedSpend,
    ManyRefusals,
    PricesOld,
  ],
  { title: "Finding" },
);

export type Finding = Static<typeof Finding>;
