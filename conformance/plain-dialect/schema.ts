import Type from "typebox";
import { defineCheck } from "../../src/dialects/reading/check.ts";

const Line = Type.Object({ who: Type.Enum(["system", "user", "model"]), text: Type.String() });

const PlainRequest = Type.Object(
  {
    model: Type.String(),
    lines: Type.Array(Line, { minItems: 1 }),
    /** The maximum number of output tokens. */
    most: Type.Optional(Type.Integer({ minimum: 1 })),
    stream: Type.Optional(Type.Boolean()),
  },
  { title: "PlainRequest" },
);

export const checkPlainRequest = defineCheck(PlainRequest, { relations: () => {} });
