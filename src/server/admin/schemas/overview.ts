import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer, Timestamp } from "./answers.ts";
import { Finding } from "./attention.ts";

const Percentiles = Type.Object(
  { p50: nullable(Type.Number()), p95: nullable(Type.Number()), p99: nullable(Type.Number()) },
  { title: "Percentiles", description: "Milliseconds, accurate to a sixth; null without calls." },
);

const amounts = {
  calls: Type.Integer(),
  failures: Type.Integer({ description: "Client disconnects do not count." }),
  cost_nano_usd: Type.Integer(),
  input_tokens: Type.Integer(),
  cached_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  first_content_ms: Percentiles,
  total_ms: Percentiles,
};

const Top = Type.Array(
  Type.Object({
    name: Type.String(),
    calls: Type.Integer(),
    failures: Type.Integer(),
    cost_nano_usd: Type.Integer(),
  }),
);

const Unpriced = Type.Object(
  {
    name: Type.String(),
    produced_by: nullable(Type.String({ description: "The tool or term of the request that caused it." })),
    key: Type.String(),
    project: Type.String(),
    model: Type.String(),
    provider: Type.String(),
    receipt: Type.String({ description: "Of the last call." }),
    calls: Type.Integer({ description: "In total, including before this range." }),
    last_at: Timestamp,
  },
  { title: "UnpricedUse" },
);

export const OverviewAnswer = dataAnswer(
  "Overview",
  Type.Object({
    from: Timestamp,
    to: Timestamp,
    every_ms: Type.Integer(),
    status: Type.Enum(["ready", "degraded", "not ready"]),
    reasons: Type.Array(Type.String()),
    running_calls: Type.Integer({
      description:
        "Of all processes: the calls of this one, and those of the others at their last heartbeat, up to 5 s ago.",
    }),
    instances: Type.Integer({ description: "How many processes run, including this one." }),
    calls_per_minute: Type.Number(),
    total: Type.Object(amounts),
    previous: nullable(
      Type.Object(
        {
          from: Timestamp,
          to: Timestamp,
          complete: Type.Boolean({ description: "Whether the ledger had begun when this period began." }),
          ...amounts,
        },
        { description: "The same for the period of equal length before; null if the ledger has nothing from then." },
      ),
    ),
    attention: Type.Array(Finding, {
      description: "What needs attention now, the most urgent first; at most five of each kind.",
    }),
    series: Type.Array(Type.Object({ at: Timestamp, ...amounts }), { description: "In order, without gaps." }),
    top: Type.Object({ models: Top, providers: Top, keys: Top }),
    unpriced: Type.Array(Unpriced, {
      description: "Use without a known price in this range, latest first.",
    }),
  }),
);

export type Overview = Static<typeof OverviewAnswer>["data"];
