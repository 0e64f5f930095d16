import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, pageAnswer, Timestamp } from "./answers.ts";
import { SpentMoney } from "./spent.ts";

const Name = Type.String({ minLength: 1, maxLength: 100 });

const EndUser = Type.Object(
  {
    id: Type.String({ description: "The id that requests use." }),
    spent_nano_usd: SpentMoney,
    requests: Type.Integer({ description: "Calls of the current UTC day." }),
    tokens: Type.Integer({ description: "Tokens of the current UTC day." }),
    last_used_at: nullable(Timestamp),
    keys: Type.Array(
      Type.Object({
        project: Type.String(),
        key: Type.String(),
        spent_nano_usd: SpentMoney,
        requests: Type.Integer(),
        tokens: Type.Integer(),
        last_used_at: Timestamp,
      }),
      { description: "The keys whose requests named it." },
    ),
    limits: Type.Array(
      Type.Object({
        project: nullable(Type.String()),
        key: nullable(Type.String()),
        limits: Type.Record(Type.String(), nullable(Type.Number()), {
          description: "`null` removes the default limit.",
        }),
        changed_at: Timestamp,
      }),
      { description: "Its own limits, which replace the defaults in `end_users` of the key or project." },
    ),
  },
  { title: "EndUser" },
);

export const EndUserAnswer = dataAnswer("EndUserAnswer", EndUser);
export const EndUserListAnswer = pageAnswer("EndUserList", EndUser);

export const EndUserLimitsBody = Type.Object(
  {
    project: Type.Optional(Name),
    key: Type.Optional(Name),
    limits: Type.Record(Type.String(), nullable(Type.Number()), {
      description:
        "Limits that replace the defaults for end users. `null` removes a default limit; limits that are not named stay.",
    }),
  },
  { title: "EndUserLimits" },
);

export type EndUser = Static<typeof EndUser>;
