import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Timestamp } from "./answers.ts";
import { LastError } from "./last-error.ts";
import { MeasuredCalls } from "./measured.ts";

const State = Type.Enum(["closed", "half_open", "open"]);

/** What the process that answers has seen. */
const seen = {
  since: nullable(Type.String({ description: "When this state began; null if it has not changed since the start." })),
  until: nullable(Type.String({ description: "When a call may try it again, if it is out of use." })),
  last_error: nullable(LastError),
  last_success_at: nullable(Timestamp),
};

const LimitLeft = Type.Object(
  {
    header: Type.String(),
    remaining: Type.Integer(),
    resets_at: nullable(Timestamp),
    at: Type.String({ description: "When the provider said so." }),
  },
  { title: "LimitLeft" },
);

const ModelHealth = Type.Object(
  {
    model: Type.String({ description: "The provider's own name for the model." }),
    state: State,
    quiet_ms: Type.Integer({ description: "How long the provider asks not to be called." }),
    first_content_ms: nullable(Type.Number()),
    p95_first_content_ms: nullable(Type.Number()),
    tokens_per_second: nullable(Type.Number()),
    ...seen,
    limits: Type.Array(LimitLeft, { description: "What is left of its limits, by the headers of its last response." }),
  },
  { title: "ModelHealth" },
);

const own = {
  state: nullable(
    Type.Enum(["closed", "half_open", "open"], {
      description: "`open`: out of use. `half_open`: the next call tries it. Null if it was not called yet.",
    }),
  ),
  ...seen,
  measured: MeasuredCalls,
};

export const ProviderHealth = Type.Object(
  {
    provider: Type.String(),
    kind: Type.String(),
    host: nullable(Type.String()),
    models_served: Type.Integer({ description: "Models of the catalogue that it offers." }),
    traits: nullable(
      Type.Object({
        retention: Type.Optional(Type.String()),
        region: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
      }),
    ),
    ...own,
    credentials: Type.Array(
      Type.Object({
        label: nullable(Type.String({ description: "Never the key; null if the provider has one credential." })),
        weight: Type.Number(),
        ...own,
        models: Type.Array(ModelHealth, { description: "Models that were called." }),
      }),
    ),
  },
  { title: "ProviderHealth" },
);

export const ProvidersAnswer = Type.Object(
  {
    data: Type.Array(ProviderHealth),
    health_of: Type.String({
      description:
        "The instance that reports the states, errors and limits. Instances share breakers; errors and limits are each instance's own.",
    }),
    measured: Type.Object(
      {
        from: Type.String({ description: "Later than the window's start if it has more than 10,000 receipts." }),
        to: Timestamp,
      },
      { description: "The time range of `measured`, which covers all instances." },
    ),
  },
  { title: "ProviderList" },
);

export type ProviderHealth = Static<typeof ProviderHealth>;
export type ProvidersAnswer = Static<typeof ProvidersAnswer>;

export const ProviderHistoryAnswer = dataAnswer(
  "ProviderHistory",
  Type.Object({
    from: Timestamp,
    to: Timestamp,
    every_ms: Type.Integer(),
    most_receipts: Type.Integer({
      description:
        "At most this many receipts are read of an interval, the newest ones; such an interval is `sampled`.",
    }),
    series: Type.Array(Type.Object({ at: Timestamp, sampled: Type.Boolean(), measured: MeasuredCalls }), {
      description: "In order, without gaps.",
    }),
  }),
);

export type ProviderHistory = Static<typeof ProviderHistoryAnswer>["data"];
