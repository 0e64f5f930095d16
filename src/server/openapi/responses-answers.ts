import { Type } from "../../base/type.ts";
import { nullable, openObject } from "../../dialects/reading/schema-builders.ts";
import { OutputItem } from "../../dialects/responses/schema/items.ts";

const count = Type.Integer({ minimum: 0 });

const ResponsesUsage = Type.Object(
  {
    input_tokens: count,
    input_tokens_details: Type.Object({
      cached_tokens: Type.Integer({ minimum: 0, description: "Part of input_tokens." }),
      cache_write_tokens: Type.Integer({ minimum: 0, description: "Part of input_tokens." }),
    }),
    output_tokens: count,
    output_tokens_details: Type.Object({
      reasoning_tokens: Type.Integer({ minimum: 0, description: "Part of output_tokens." }),
    }),
    total_tokens: count,
  },
  { title: "ResponsesUsage" },
);

const status = Type.Enum(["completed", "incomplete", "failed", "in_progress", "queued", "cancelled"]);

/** It repeats the settings of the request. */
export const ResponseAnswer = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("response"),
    created_at: Type.Integer(),
    completed_at: nullable(Type.Integer()),
    status,
    model: Type.String(),
    output: Type.Array(OutputItem),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    incomplete_details: nullable(Type.Object({ reason: Type.String() })),
    instructions: nullable(Type.Unknown()),
    metadata: nullable(openObject()),
    parallel_tool_calls: Type.Boolean(),
    previous_response_id: Type.Optional(nullable(Type.String())),
    store: Type.Optional(Type.Boolean({ description: "Whether the response is stored, and can be continued." })),
    presence_penalty: Type.Number(),
    frequency_penalty: Type.Number(),
    temperature: Type.Number(),
    tool_choice: Type.Unknown(),
    tools: Type.Array(openObject()),
    top_logprobs: Type.Integer(),
    top_p: Type.Number(),
    usage: nullable(ResponsesUsage),
  },
  { title: "Response" },
);

export const ResponseStreamEvent = Type.Object(
  {
    type: Type.String({ examples: ["response.created", "response.output_text.delta", "response.completed"] }),
    sequence_number: Type.Integer({ minimum: 0, description: "Counts the events from 0, without gaps." }),
    response: Type.Optional(ResponseAnswer),
    item: Type.Optional(OutputItem),
    output_index: Type.Optional(count),
    item_id: Type.Optional(Type.String()),
    delta: Type.Optional(Type.String()),
  },
  { title: "ResponseStreamEvent" },
);

export const ResponsesTokenCount = Type.Object(
  { object: Type.Literal("response.input_tokens"), input_tokens: count },
  { title: "ResponsesTokenCount" },
);
