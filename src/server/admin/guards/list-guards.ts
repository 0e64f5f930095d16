import { Type } from "../../../base/type.ts";
import { json } from "../../openapi/operation.ts";
import { adminRoute } from "../define-route.ts";
import { GATHERED_FIELDS, gatheredView } from "../running/gathered.ts";
import { askVerdicts } from "../running/operator-questions.ts";
import { GuardItem } from "../schemas/guard.ts";

const GuardsAnswer = Type.Object({ data: Type.Array(GuardItem), ...GATHERED_FIELDS }, { title: "GuardsAnswer" });

export const listGuards = adminRoute({
  method: "GET",
  path: "/api/guards",
  id: "listGuards",
  summary: "List the configured guards in order, with the verdicts that all running processes have counted.",
  roles: ["admin", "viewer"],
  answers: [json(GuardsAnswer, "The guards.")],
  handle: async (_call, { gateway }, { questions }) => {
    const guards = gateway.snapshot.guards?.settings ?? [];
    const gathered = await questions.look(askVerdicts({ guards: guards.map(({ name }) => name) }));
    const counts = gathered.answers.flatMap(({ answer }) => answer.verdicts);
    return {
      data: guards.map(({ name, use, on, action, onFailure, window, timeoutMs, for: only = {} }) => ({
        name,
        use,
        on: [...on],
        action,
        on_failure: onFailure,
        window,
        timeout_ms: timeoutMs,
        for: { projects: listOf(only.projects), keys: listOf(only.keys), models: listOf(only.models) },
        verdicts: summed(counts.filter((count) => count.name === name)),
      })),
      ...gatheredView(gathered),
    };
  },
});

type Verdict = GuardItem["verdicts"][number];

/** One count for each direction and verdict. */
function summed(counts: readonly Verdict[]): Verdict[] {
  const sums: Verdict[] = [];
  for (const { on, verdict, calls } of counts) {
    const known = sums.find((sum) => sum.on === on && sum.verdict === verdict);
    if (known === undefined) sums.push({ on, verdict, calls });
    else known.calls += calls;
  }
  return sums;
}

const listOf = (patterns: readonly string[] | undefined): string[] | null =>
  patterns === undefined ? null : [...patterns];
