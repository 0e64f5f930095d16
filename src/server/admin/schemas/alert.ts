import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { ALERT_TYPES } from "../../../canon/alert-type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Timestamp } from "./answers.ts";

const Delivery = Type.Object(
  {
    webhook: Type.String({ description: "Name of the webhook." }),
    state: Type.Enum(["pending", "delivered", "failed"]),
    tries: Type.Integer(),
    tried_at: nullable(Timestamp),
    status: nullable(Type.Integer({ description: "Status of the last response." })),
    error: nullable(Type.String()),
  },
  { title: "AlertDelivery" },
);

export const Alert = Type.Object(
  {
    id: Type.String({ description: "The same for every attempt." }),
    type: Type.Enum([...ALERT_TYPES, "test"]),
    at: Timestamp,
    text: Type.String({ description: "One sentence for people." }),
    data: Type.Unknown({ description: "The values, as sent." }),
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
        address: Type.String({ description: "Only its host: the rest may be a secret." }),
        signed: Type.Boolean(),
        events: nullable(
          Type.Array(Type.Enum(ALERT_TYPES), { description: "The event types it receives; null means all." }),
        ),
        last: nullable(Delivery),
      }),
    ),
    budget_percent: Type.Array(Type.Integer()),
    provider_down: Type.Boolean(),
    gateway_degraded: Type.Boolean(),
    error_percent: Type.Integer({
      description: "The percentage of failed calls that triggers an alert; 0 disables it.",
    }),
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
      answer: Type.String({ description: "The start of the response." }),
      ms: Type.Integer(),
    }),
  ),
);

export type Alert = Static<typeof Alert>;
export type AlertSettings = Static<typeof AlertSettingsAnswer>["data"];
export type AlertTest = Static<typeof AlertTestAnswer>["data"];
