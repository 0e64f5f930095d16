import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { ALERT_TYPES } from "../../../canon/alert-type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Moment } from "./answers.ts";

const Delivery = Type.Object(
  {
    webhook: Type.String({ description: "Its name." }),
    state: Type.Enum(["pending", "delivered", "failed"]),
    tries: Type.Integer(),
    tried_at: nullable(Moment),
    status: nullable(Type.Integer({ description: "Of the last answer." })),
    error: nullable(Type.String()),
  },
  { title: "AlertDelivery" },
);

export const Alert = Type.Object(
  {
    id: Type.String({ description: "The same at every try." }),
    type: Type.Enum([...ALERT_TYPES, "test"]),
    at: Moment,
    text: Type.String({ description: "One sentence for people." }),
    data: Type.Unknown({ description: "The figures, as they were sent." }),
    deliveries: Type.Array(Delivery),
  },
  { title: "Alert" },
);

export const AlertSettingsAnswer = dataAnswer(
  "AlertSettings",
  Type.Object({
    webhooks: Type.Array(
      Type.Object({
        name: Type.String(),
        address: Type.String({ description: "Its host alone: the rest may be a secret." }),
        signed: Type.Boolean(),
        events: nullable(Type.Array(Type.Enum(ALERT_TYPES), { description: "What it is told; null is everything." })),
        last: nullable(Delivery),
      }),
    ),
    budget_percent: Type.Array(Type.Integer()),
    provider_down: Type.Boolean(),
    gateway_degraded: Type.Boolean(),
    error_percent: Type.Integer({ description: "The share of calls that must fail to be told; 0 tells of none." }),
    error_minutes: Type.Integer(),
    error_min_calls: Type.Integer(),
    retry_hours: Type.Number(),
  }),
);

export const AlertTestAnswer = dataAnswer(
  "AlertTest",
  Type.Array(
    Type.Object({
      webhook: Type.String(),
      ok: Type.Boolean(),
      status: nullable(Type.Integer()),
      error: nullable(Type.String()),
      answer: Type.String({ description: "The beginning of what it answered." }),
      ms: Type.Integer(),
    }),
  ),
);

export type Alert = Static<typeof Alert>;
export type AlertSettings = Static<typeof AlertSettingsAnswer>["data"];
export type AlertTest = Static<typeof AlertTestAnswer>["data"];
