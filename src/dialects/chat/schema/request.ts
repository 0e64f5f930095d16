import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { CallOptions, ModelRouting, ProviderRouting } from "../../reading/routing-schema.ts";
import { nullable, openObject, stringLike, unlisted } from "../../reading/schema-builders.ts";
import { ChatMessage } from "./content.ts";
import { ChatTool, ChatToolChoice } from "./tools.ts";

const penalty = nullable(Type.Number({ minimum: -2, maximum: 2 }));
const dropInOnly = { deprecated: true, description: "Accepted only at the drop-in endpoints." };

const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Literal("text") }),
  Type.Object({ type: Type.Literal("json_object") }),
  Type.Object({
    type: Type.Literal("json_schema"),
    json_schema: Type.Object({
      name: stringLike("^[a-zA-Z0-9_-]{1,64}$", "a name of 1 to 64 letters (a-z, A-Z), digits, underscores and dashes"),
      schema: Type.Optional(openObject()),
      strict: Type.Optional(nullable(Type.Boolean())),
      description: Type.Optional(Type.String()),
    }),
  }),
]);

const Reasoning = Type.Object({
  enabled: Type.Optional(Type.Boolean()),
  effort: Type.Optional(Type.Union([Type.Enum(["low", "medium", "high"]), Type.String({ minLength: 1, ...unlisted })])),
  max_tokens: Type.Optional(Type.Number({ minimum: 0 })),
  exclude: Type.Optional(Type.Boolean()),
});

export const ChatRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
    messages: Type.Array(ChatMessage, { minItems: 1 }),
    max_completion_tokens: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
    temperature: Type.Optional(nullable(Type.Number())),
    top_p: Type.Optional(nullable(Type.Number())),
    n: Type.Optional(nullable(Type.Literal(1))),
    frequency_penalty: Type.Optional(penalty),
    presence_penalty: Type.Optional(penalty),
    stop: Type.Optional(nullable(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })]))),
    logit_bias: Type.Optional(nullable(Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 })))),
    logprobs: Type.Optional(nullable(Type.Boolean())),
    top_logprobs: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 20 }))),
    tools: Type.Optional(Type.Array(ChatTool)),
    tool_choice: Type.Optional(ChatToolChoice),
    parallel_tool_calls: Type.Optional(Type.Boolean()),
    reasoning_effort: Type.Optional(nullable(Type.String({ minLength: 1 }))),
    verbosity: Type.Optional(nullable(Type.Enum(["low", "medium", "high"]))),
    web_search_options: Type.Optional(openObject()),
    metadata: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 16 }))),
    stream: Type.Optional(nullable(Type.Boolean())),
    stream_options: Type.Optional(nullable(Type.Object({ include_usage: Type.Optional(Type.Boolean()) }))),
    response_format: Type.Optional(ResponseFormat),
    provider: Type.Optional(ProviderRouting),
    model_routing_config: Type.Optional(ModelRouting),
    trivium: Type.Optional(CallOptions),
    reasoning: Type.Optional(Reasoning),
    usage: Type.Optional(Type.Object({ include: Type.Optional(Type.Boolean()) })),
    max_tokens: Type.Optional(nullable(Type.Integer({ minimum: 1, ...dropInOnly }))),
    seed: Type.Optional(nullable(Type.Integer(dropInOnly))),
    user: Type.Optional(nullable(Type.String(dropInOnly))),
    top_k: Type.Optional(nullable(Type.Integer({ description: "Passed on to providers that support it." }))),
  },
  { title: "ChatRequest" },
);
export type ChatRequest = Static<typeof ChatRequest>;
