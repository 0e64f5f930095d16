import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { dataAnswer } from "./answers.ts";

export const ProviderTestAnswer = dataAnswer(
  "ProviderTest",
  Type.Object({
    provider: Type.String(),
    ok: Type.Boolean(),
    credentials: Type.Array(
      Type.Object({
        label: nullable(Type.String()),
        host: Type.String(),
        state: Type.Enum(["ok", "rejected", "unreachable", "unchecked"]),
        detail: Type.String(),
      }),
      { description: "The result of a free request for each credential." },
    ),
    call: nullable(
      Type.Object({
        model: Type.String(),
        ok: Type.Boolean(),
        ms: Type.Integer(),
        receipt: nullable(Type.String()),
        error: nullable(Type.Object({ kind: Type.String(), message: Type.String() })),
      }),
      // A provider that only has videos has no small call.
    ),
  }),
);

export type ProviderTest = Static<typeof ProviderTestAnswer>["data"];
