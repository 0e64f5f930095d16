import Type from "typebox";
import { openObject } from "../../dialects/schema-builders.ts";
import { lastDays, summariseUsage } from "../../ledger/queries.ts";
import { json } from "../openapi/operation.ts";
import { dataAnswer } from "./answers.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { momentField, oneOfField, textField, wholeField, wrong } from "./query-fields.ts";

const USAGE_GROUPS = ["model", "key", "day", "provider", "project"] as const;

const UsageRow = Type.Object(
  {
    group: Type.String(),
    calls: Type.Integer(),
    failures: Type.Integer(),
    usage: openObject("Tokens, images, seconds and the like."),
    costNanoUsd: Type.Integer(),
  },
  { title: "UsageRow" },
);

export const showUsage = adminRoute({
  method: "GET",
  path: "/api/usage",
  id: "showUsage",
  summary: "Sum calls, tokens and cost.",
  roles: ["admin", "viewer", "project"],
  query: {
    by: oneOfField("What the sums are grouped by; `model` where absent.", USAGE_GROUPS),
    days: wholeField("How many days to look back; 30 where absent.", 1, 3660),
    from: momentField("The first moment; in place of `days`."),
    to: momentField("The first moment that is not included; now where absent."),
    project: textField("Only this project."),
  },
  answers: [json(dataAnswer("UsageAnswer", Type.Array(UsageRow)), "One row for each group.")],
  handle: async ({ query, operator }, { storage, gateway }) => {
    const now = lastDays(query.days ?? 30, query.to ?? gateway.clock.wallMs());
    const untilMs = query.to ?? now.untilMs;
    if (query.days !== undefined && query.from !== undefined) throw wrong("days", "does not go with from");
    if (query.from !== undefined && query.from >= untilMs) throw wrong("from", "must be before to");
    const project = projectOf(operator, query.project);
    const sums = await summariseUsage(storage, {
      ...(project === undefined ? {} : { project }),
      sinceMs: query.from ?? now.sinceMs,
      untilMs,
      by: [query.by ?? "model"],
    });
    return { data: sums.map(({ groups: [group = ""], ...sum }) => ({ group, ...sum })) };
  },
});
