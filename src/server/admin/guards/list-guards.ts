import { Type } from "../../../base/type.ts";
import { json } from "../../openapi/operation.ts";
import { adminRoute } from "../define-route.ts";
import { GuardItem } from "../schemas/guard.ts";

const GuardsAnswer = Type.Object({ data: Type.Array(GuardItem) }, { title: "GuardsAnswer" });

export const listGuards = adminRoute({
  method: "GET",
  path: "/api/guards",
  id: "listGuards",
  summary: "List the configured guards in order, with the verdicts that the process that answers has counted.",
  roles: ["admin", "viewer"],
  answers: [json(GuardsAnswer, "The guards.")],
  handle: (_call, { gateway }) => ({
    data: (gateway.snapshot.guards?.settings ?? []).map(
      ({ name, use, on, action, onFailure, window, timeoutMs, for: only = {} }) => ({
        name,
        use,
        on: [...on],
        action,
        on_failure: onFailure,
        window,
        timeout_ms: timeoutMs,
        for: { projects: listOf(only.projects), keys: listOf(only.keys), models: listOf(only.models) },
        verdicts: gateway.metrics.guardVerdicts(name),
      }),
    ),
  }),
});

const listOf = (patterns: readonly string[] | undefined): string[] | null =>
  patterns === undefined ? null : [...patterns];
