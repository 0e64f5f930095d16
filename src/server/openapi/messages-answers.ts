import { Type } from "../../base/type.ts";
import { ContentBlock } from "../../dialects/messages/schema/content.ts";
import { nullable } from "../../dialects/reading/schema-builders.ts";

const integer = Type.Integer({ minimum: 0 });
const counter = Type.Optional(nullable(integer));

const StopReason = Type.Enum([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
]);

const MessagesUsage = Type.Object(
  {
    input_tokens: counter,
    output_tokens: integer,
    cache_creation_input_tokens: counter,
    cache_read_input_tokens: counter,
    cache_creation: Type.Optional(
      nullable(Type.Object({ ephemeral_1h_input_tokens: integer, ephemeral_5m_input_tokens: integer })),
    ),
    server_tool_use: Type.Optional(
      nullable(Type.Object({ web_search_requests: integer, web_fetch_requests: integer })),
    ),
    service_tier: Type.Optional(nullable(Type.String({ examples: ["standard"] }))),
  },
  { title: "MessagesUsage" },
);

const answer = {
  id: Type.String(),
  type: Type.Literal("message"),
  role: Type.Literal("assistant"),
  model: Type.String({ description: "The public id of the model that answered." }),
  content: Type.Array(ContentBlock),
  stop_sequence: nullable(Type.String()),
  usage: MessagesUsage,
};

/** Contract 2.11. */
export const MessageAnswer = Type.Object({ ...answer, stop_reason: StopReason }, { title: "MessageAnswer" });

const index = integer;
const Delta = Type.Union([
  Type.Object({ type: Type.Literal("text_delta"), text: Type.String() }),
  Type.Object({ type: Type.Literal("input_json_delta"), partial_json: Type.String() }),
  Type.Object({ type: Type.Literal("thinking_delta"), thinking: Type.String() }),
  Type.Object({ type: Type.Literal("signature_delta"), signature: Type.String() }),
  Type.Object({ type: Type.Literal("citations_delta"), citation: Type.Unknown() }),
]);

/** Contract 6.1: the data of one event; its name is its type. */
export const MessageStreamEvent = Type.Union(
  [
    Type.Object({
      type: Type.Literal("message_start"),
      message: Type.Object({ ...answer, stop_reason: nullable(StopReason) }),
    }),
    Type.Object({ type: Type.Literal("content_block_start"), index, content_block: ContentBlock }),
    Type.Object({ type: Type.Literal("content_block_delta"), index, delta: Delta }),
    Type.Object({ type: Type.Literal("content_block_stop"), index }),
    Type.Object({
      type: Type.Literal("message_delta"),
      delta: Type.Object({
        stop_reason: nullable(StopReason),
        stop_sequence: nullable(Type.String()),
        usage: Type.Optional(MessagesUsage),
      }),
      usage: Type.Optional(MessagesUsage),
    }),
    Type.Object({ type: Type.Literal("message_stop") }),
    Type.Object({ type: Type.Literal("ping") }),
    Type.Object({
      type: Type.Literal("error"),
      error: Type.Object({
        type: Type.Enum(["invalid_request_error", "authentication_error", "rate_limit_error", "api_error"]),
        message: Type.String(),
      }),
    }),
  ],
  { title: "MessageStreamEvent" },
);

export const MessagesTokenCount = Type.Object({ input_tokens: integer }, { title: "MessagesTokenCount" });
