import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { CallOptions, ModelRouting, ProviderRouting } from "../../reading/routing-schema.ts";
import { nullable, openObject, stringLike } from "../../reading/schema-builders.ts";
import { MAX_TEXT } from "./content.ts";
import { InputItem } from "./items.ts";
import { ResponsesTool, ResponsesToolChoice } from "./tools.ts";

// null is passed on where the vendor documents it. Elsewhere it means that the field is absent.
const text = Type.Optional(nullable(Type.String()));
const word = Type.Optional(Type.String());
const flag = Type.Optional(nullable(Type.Boolean()));

const TextFormat = Type.Union([
  Type.Object({ type: Type.Literal("text") }),
  Type.Object({ type: Type.Literal("json_object") }),
  Type.Object({
    type: Type.Literal("json_schema"),
    name: stringLike("^[a-zA-Z0-9_-]{1,64}$", "a name of 1 to 64 letters (a-z, A-Z), digits, underscores and dashes"),
    schema: openObject(),
    strict: flag,
    description: text,
  }),
]);

const TextConfig = Type.Object({
  format: Type.Optional(TextFormat),
  verbosity: Type.Optional(nullable(Type.Enum(["low", "medium", "high"]))),
});

const Reasoning = Type.Object({
  effort: Type.Optional(nullable(Type.String({ minLength: 1 }))),
  summary: Type.Optional(nullable(Type.Enum(["auto", "concise", "detailed"]))),
});

/** Values that a client attaches to what it stores. */
export const Metadata = Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 512 }), {
  maxProperties: 16,
});

export const ResponsesRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
    input: Type.Optional(Type.Union([Type.String({ maxLength: MAX_TEXT }), Type.Array(InputItem)])),
    instructions: text,
    stream: flag,
    stream_options: Type.Optional(nullable(Type.Object({ include_obfuscation: Type.Optional(Type.Boolean()) }))),
    max_output_tokens: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
    max_tool_calls: Type.Optional(nullable(Type.Integer({ minimum: 0 }))),
    temperature: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 2 }))),
    top_p: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
    top_logprobs: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 20 }))),
    tools: Type.Optional(Type.Array(ResponsesTool)),
    tool_choice: Type.Optional(ResponsesToolChoice),
    parallel_tool_calls: flag,
    text: Type.Optional(TextConfig),
    reasoning: Type.Optional(nullable(Reasoning)),
    include: Type.Optional(nullable(Type.Array(Type.String()))),
    store: Type.Optional(
      nullable(Type.Boolean({ description: "Defaults to true. Later requests can continue from a stored response." })),
    ),
    previous_response_id: text,
    conversation: Type.Optional(
      nullable(
        Type.Union([Type.String(), Type.Object({ id: Type.String() })], {
          description: "The conversation that the response is a turn of: its id, or an object with its id.",
        }),
      ),
    ),
    background: flag,
    truncation: Type.Optional(nullable(Type.Enum(["auto", "disabled"]))),
    metadata: Type.Optional(nullable(Metadata)),
    service_tier: text,
    prompt_cache_key: word,
    prompt_cache_retention: text,
    prompt_cache_options: Type.Optional(openObject("What part of the prompt to cache, and for how long at least.")),
    safety_identifier: Type.Optional(Type.String({ maxLength: 128 })),
    user: word,
    context_management: Type.Optional(nullable(Type.Array(openObject()))),
    client_metadata: Type.Optional(openObject()),
    provider: Type.Optional(ProviderRouting),
    model_routing_config: Type.Optional(ModelRouting),
    trivium: Type.Optional(CallOptions),
  },
  { title: "ResponsesRequest" },
);
export type ResponsesRequest = Static<typeof ResponsesRequest>;
