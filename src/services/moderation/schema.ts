import { Type } from "../../base/type.ts";
import { EXPECTED } from "../../dialects/reading/schema-builders.ts";
import { defineBodyCheck } from "../../media/check-body.ts";

const Input = Type.Union([Type.String(), Type.Object({ type: Type.String() })]);

/** `moderations`. */
export const ModerationRequest = Type.Object(
  {
    model: Type.Optional(
      Type.String({ minLength: 1, description: "`<provider>/<model_name>`. Defaults to the first moderation model." }),
    ),
    input: Type.Union([Type.String(), Type.Array(Input, { minItems: 1 })], {
      [EXPECTED]: "a string, an array of strings, or an array of parts with a type",
    }),
  },
  { title: "ModerationRequest" },
);

export const checkModeration = defineBodyCheck(ModerationRequest, () => {});
