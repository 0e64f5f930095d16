import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { GUARD_DIRECTIONS, GUARD_VERDICTS } from "../../../canon/guard/guard-verdict.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

const VerdictCount = Type.Object({
  on: Type.Enum(GUARD_DIRECTIONS),
  verdict: Type.Enum(GUARD_VERDICTS),
  calls: Type.Integer({ minimum: 0 }),
});
export const GuardItem = Type.Object(
  {
    name: Type.String(),
    use: Type.Enum(["secrets", "pii", "words", "moderation", "webhook"]),
    on: Type.Array(Type.Enum(GUARD_DIRECTIONS)),
    action: Type.Enum(["block", "redact", "observe"]),
    on_failure: Type.Enum(["block", "allow"]),
    window: Type.Integer(),
    timeout_ms: Type.Integer(),
    for: Type.Object({
      projects: nullable(Type.Array(Type.String())),
      keys: nullable(Type.Array(Type.String())),
      models: nullable(Type.Array(Type.String())),
    }),
    verdicts: Type.Array(VerdictCount, {
      description: "Calls of all running processes, each since its start, by verdict.",
    }),
  },
  { title: "GuardItem" },
);

export type GuardItem = Static<typeof GuardItem>;
