import { Type } from "../../base/type.ts";
import { GUARD_DIRECTIONS, GUARD_VERDICTS } from "../../canon/guard/guard-verdict.ts";
import { nullable } from "../../dialects/reading/schema-builders.ts";

export const GuardVerdict = Type.Object({
  name: Type.String(),
  on: Type.Enum(GUARD_DIRECTIONS),
  verdict: Type.Enum(GUARD_VERDICTS),
  count: Type.Integer({ minimum: 0, description: "How many matches or texts it found." }),
  paths: Type.Array(Type.String(), {
    description: "Where it found something in the client's body, at most five. Names that a client chose are left out.",
  }),
  reason: nullable(Type.String({ description: "What it found, or why it did not run." })),
  ms: Type.Number({ minimum: 0 }),
});
