import { BUDGET_WINDOWS } from "../../../access/spend-meter.ts";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

/** What is used of a budget, and what will be at the end of its window. */
export const BudgetState = Type.Object(
  {
    window: Type.Enum([...BUDGET_WINDOWS]),
    limit_nano_usd: Type.Integer(),
    spent_nano_usd: Type.Integer(),
    used_percent: Type.Integer(),
    forecast_nano_usd: nullable(
      Type.Integer({
        description: "At the end of the window if spending continues at this rate; null in its first twentieth.",
      }),
    ),
    exceeds_at: nullable(Type.String({ description: "When it is used up at this rate, if before the end." })),
    ends_at: nullable(Timestamp),
  },
  { title: "BudgetState" },
);
