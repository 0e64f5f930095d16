import { Type } from "../../base/type.ts";
import { ReasoningDetail, ToolCall } from "../../dialects/chat/schema/content.ts";
import { nullable, openObject } from "../../dialects/reading/schema-builders.ts";

const integer = Type.Integer({ minimum: 0 });
const FinishReason = Type.Enum(["stop", "length", "content_filter", "tool_calls", "function_call"]);

const tokenOdds = {
  token: Type.String(),
  logprob: Type.Number({ description: "-9999.0 commonly means outside the top 20." }),
  bytes: nullable(Type.Array(Type.Integer())),
};
const TokenLogprobs = Type.Array(Type.Object({ ...tokenOdds, top_logprobs: Type.Array(Type.Object(tokenOdds)) }));
const Logprobs = nullable(
  Type.Object({
    content: Type.Optional(nullable(TokenLogprobs)),
    refusal: Type.Optional(nullable(TokenLogprobs)),
  }),
);

const UrlCitation = Type.Object({
  type: Type.Literal("url_citation"),
  url_citation: Type.Object({
    url: Type.String(),
    title: Type.Optional(Type.String()),
    start_index: Type.Integer(),
    end_index: Type.Integer(),
  }),
});

const spoken = {
  refusal: Type.Optional(nullable(Type.String())),
  reasoning: Type.Optional(nullable(Type.String())),
  reasoning_content: Type.Optional(nullable(Type.String({ description: "The same text as reasoning." }))),
  reasoning_details: Type.Optional(nullable(Type.Array(ReasoningDetail))),
  annotations: Type.Optional(Type.Array(UrlCitation)),
};

const ChatUsage = Type.Object(
  {
    prompt_tokens: integer,
    completion_tokens: integer,
    total_tokens: integer,
    prompt_tokens_details: Type.Optional(nullable(openObject())),
    completion_tokens_details: Type.Optional(nullable(openObject())),
    cost: Type.Optional(Type.Number({ description: "US dollars; with usage.include." })),
  },
  { title: "ChatUsage" },
);

/** Contract 2.13 and choices 5. */
export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("chat.completion"),
    created: integer,
    model: Type.String({ description: "The public id of the model that answered." }),
    choices: Type.Array(
      Type.Object({
        index: integer,
        finish_reason: nullable(FinishReason),
        logprobs: Type.Optional(Logprobs),
        message: Type.Object({
          role: Type.Literal("assistant"),
          content: nullable(Type.String()),
          tool_calls: Type.Optional(Type.Array(ToolCall)),
          ...spoken,
        }),
      }),
    ),
    usage: Type.Optional(ChatUsage),
  },
  { title: "ChatCompletion" },
);

/** The data of one event; `[DONE]` is the last. */
export const ChatCompletionChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("chat.completion.chunk"),
    created: integer,
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: integer,
        finish_reason: Type.Optional(nullable(FinishReason)),
        logprobs: Type.Optional(Logprobs),
        delta: Type.Object({
          role: Type.Optional(Type.Literal("assistant")),
          content: Type.Optional(nullable(Type.String())),
          tool_calls: Type.Optional(
            Type.Array(
              Type.Object({
                index: integer,
                id: Type.Optional(Type.String()),
                type: Type.Optional(Type.String()),
                function: Type.Optional(
                  Type.Object({ name: Type.Optional(Type.String()), arguments: Type.Optional(Type.String()) }),
                ),
              }),
            ),
          ),
          ...spoken,
        }),
      }),
    ),
    usage: Type.Optional(nullable(ChatUsage)),
  },
  { title: "ChatCompletionChunk" },
);
