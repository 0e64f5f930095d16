import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable, openObject } from "../../reading/schema-builders.ts";
import { CacheControl, Message, SystemPrompt } from "./content.ts";
import { Tool, ToolChoice } from "./tools.ts";

const display = Type.Optional(nullable(Type.String()));

const Thinking = Type.Union(
  [
    Type.Object({ type: Type.Literal("enabled"), budget_tokens: Type.Integer({ minimum: 1024 }), display }),
    Type.Object({ type: Type.Literal("disabled") }),
    Type.Object({ type: Type.Literal("adaptive"), display }),
    Type.Object({ type: Type.Literal("between_tools"), display }),
  ],
  { title: "Thinking" },
);

const OutputConfig = Type.Object({
  effort: Type.Optional(nullable(Type.String())),
  format: Type.Optional(nullable(openObject())),
});

/** The fields for counting tokens: the prompt and everything that shapes it, without fields that only shape the response. */
const prompt = {
  model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
  messages: Type.Array(Message, { minItems: 1, maxItems: 100_000 }),
  system: Type.Optional(SystemPrompt),
  thinking: Type.Optional(Thinking),
  tools: Type.Optional(Type.Array(Tool)),
  tool_choice: Type.Optional(ToolChoice),
  cache_control: Type.Optional(CacheControl),
  output_config: Type.Optional(nullable(OutputConfig)),
  context_management: Type.Optional(nullable(openObject())),
};

export const MessagesRequest = Type.Object(
  {
    ...prompt,
    max_tokens: Type.Integer({ minimum: 1 }),
    stop_sequences: Type.Optional(Type.Array(Type.String())),
    stream: Type.Optional(Type.Boolean()),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: Type.Optional(Type.Integer({ minimum: 0 })),
    top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    metadata: Type.Optional(
      Type.Unknown({
        description: "Not supported: removed. The drop-in endpoints pass it on to a provider of this protocol.",
      }),
    ),
    service_tier: Type.Optional(
      Type.Unknown({
        description: "Not supported: removed. The drop-in endpoints pass it on to a provider of this protocol.",
      }),
    ),
  },
  { title: "MessagesRequest" },
);
export type MessagesRequest = Static<typeof MessagesRequest>;

export const CountTokensRequest = Type.Object(prompt, { title: "MessagesCountTokensRequest" });
export type CountTokensRequest = Static<typeof CountTokensRequest>;
