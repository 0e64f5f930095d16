import { Type } from "../../base/type.ts";
import { EXPECTED, nullable } from "../../dialects/reading/schema-builders.ts";
import { defineBodyCheck } from "../../media/check-body.ts";

const Token = Type.Integer({ minimum: 0 });

/** `completions`, the API before chat. Further fields are the host's to judge. */
export const CompletionRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
    prompt: Type.Union(
      [Type.String(), Type.Array(Type.Union([Type.String(), Token, Type.Array(Token)]), { minItems: 1 })],
      { [EXPECTED]: "a string, an array of strings, or tokens" },
    ),
    max_tokens: Type.Optional(nullable(Type.Integer({ minimum: 0 }))),
    n: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 128 }))),
    best_of: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 128 }))),
    stream: Type.Optional(nullable(Type.Boolean())),
    stream_options: Type.Optional(nullable(Type.Object({ include_usage: Type.Optional(Type.Boolean()) }))),
  },
  { title: "CompletionRequest" },
);

export const checkCompletion = defineBodyCheck(CompletionRequest, () => {});
