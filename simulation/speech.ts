/** Tokens as a provider counts them. */
export interface SpokenUsage {
  /** Prompt tokens that were not cached. */
  input: number;
  cached: number;
  output: number;
}

/** One response of a provider. */
export interface Speech {
  /** In as many parts as it is streamed in. */
  texts: readonly string[];
  /** Arguments of a tool call after the text. */
  toolArguments: string | undefined;
  /** Undefined if the provider reports none. */
  usage: SpokenUsage | undefined;
  /** Some hosts report it a second time. */
  usageTwice: boolean;
}

export const TOOL_NAME = "look_up";
const MODEL = "upstream-model";

/** One word per step of a response, so that anything lost, repeated or out of order is visible. */
export function wordOf({ id, padding }: { id: number; padding: number }, index: number): string {
  return padding === 0 ? `c${id}w${index} ` : `c${id}w${index}${"-".repeat(padding)} `;
}

export function wordsOf(call: { id: number; padding: number }, from: number, until: number): string {
  let text = "";
  for (let index = from; index < until; index++) text += wordOf(call, index);
  return text;
}

/**
 * The frames of a stream. Those from `contentFrom` to before `contentUntil` have content; the next has the stop
 * reason.
 */
export interface SpokenEvents {
  events: string[];
  contentFrom: number;
  contentUntil: number;
  /** The number of frames after which the usage is known. */
  usageUntil: number;
}

/** What a provider writes, per dialect. Written independently, so that the gateway's own code is not its judge. */
export interface Wire {
  whole(speech: Speech): object;
  events(speech: Speech): SpokenEvents;
  error(status: number, message: string): object;
  errorEvent(message: string): string;
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string } & Record<string, unknown>): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

const chat: Wire = {
  whole: ({ texts, toolArguments, usage }) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: MODEL,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: texts.join(""),
          tool_calls: toolArguments === undefined ? undefined : [chatTool(toolArguments)],
        },
        finish_reason: toolArguments === undefined ? "stop" : "tool_calls",
      },
    ],
    ...(usage ? { usage: chatUsage(usage) } : {}),
  }),
  events: ({ texts, toolArguments, usage, usageTwice }) => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      data({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model: MODEL,
        choices: [{ index: 0, delta, finish_reason }],
      });
    const events = texts.map((content, index) => chunk(index === 0 ? { role: "assistant", content } : { content }));
    if (toolArguments !== undefined) {
      const middle = toolArguments.length >> 1;
      events.push(chunk({ tool_calls: [{ index: 0, ...chatTool(toolArguments.slice(0, middle)) }] }));
      events.push(chunk({ tool_calls: [{ index: 0, function: { arguments: toolArguments.slice(middle) } }] }));
    }
    const contentUntil = events.length;
    events.push(chunk({}, toolArguments === undefined ? "stop" : "tool_calls"));
    const told =
      usage &&
      data({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model: MODEL,
        choices: [],
        usage: chatUsage(usage),
      });
    if (told) events.push(told);
    if (told && usageTwice) events.push(told);
    events.push("data: [DONE]\n\n");
    return { events, contentFrom: 0, contentUntil, usageUntil: contentUntil + 2 };
  },
  error: (status, message) => ({ error: { message, type: "server_error", code: String(status), param: null } }),
  errorEvent: (message) => data({ error: { message, type: "server_error", code: "500", param: null } }),
};

const chatTool = (text: string) => ({
  id: "call_1",
  type: "function",
  function: { name: TOOL_NAME, arguments: text },
});

const chatUsage = ({ input, cached, output }: SpokenUsage) => ({
  prompt_tokens: input + cached,
  completion_tokens: output,
  total_tokens: input + cached + output,
  prompt_tokens_details: { cached_tokens: cached },
});

const messages: Wire = {
  whole: ({ texts, toolArguments, usage }) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: MODEL,
    content: [
      { type: "text", text: texts.join("") },
      ...(toolArguments === undefined
        ? []
        : [{ type: "tool_use", id: "toolu_1", name: TOOL_NAME, input: JSON.parse(toolArguments) as object }]),
    ],
    stop_reason: toolArguments === undefined ? "end_turn" : "tool_use",
    stop_sequence: null,
    ...(usage ? { usage: messagesUsage(usage) } : {}),
  }),
  events: ({ texts, toolArguments, usage, usageTwice }) => {
    const events = [
      named({
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: MODEL,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          ...(usage ? { usage: { ...messagesUsage(usage), output_tokens: 1 } } : {}),
        },
      }),
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      ...texts.map((text) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
      named({ type: "content_block_stop", index: 0 }),
    ];
    if (toolArguments !== undefined) {
      const part = (partial_json: string) =>
        named({ type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json } });
      const middle = toolArguments.length >> 1;
      events.push(
        named({
          type: "content_block_start",
          index: 1,
          content_block: { type: "tool_use", id: "toolu_1", name: TOOL_NAME, input: {} },
        }),
        part(toolArguments.slice(0, middle)),
        part(toolArguments.slice(middle)),
        named({ type: "content_block_stop", index: 1 }),
      );
    }
    const contentUntil = events.length;
    const end = named({
      type: "message_delta",
      delta: { stop_reason: toolArguments === undefined ? "end_turn" : "tool_use", stop_sequence: null },
      ...(usage ? { usage: usageTwice ? messagesUsage(usage) : { output_tokens: usage.output } } : {}),
    });
    events.push(end, named({ type: "message_stop" }));
    return { events, contentFrom: 2, contentUntil, usageUntil: contentUntil + 1 };
  },
  error: (_, message) => ({ type: "error", error: { type: "api_error", message } }),
  errorEvent: (message) => named({ type: "error", error: { type: "api_error", message } }),
};

const messagesUsage = ({ input, cached, output }: SpokenUsage) => ({
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: output,
});

const genai: Wire = {
  whole: ({ texts, toolArguments, usage }) => ({
    candidates: [
      {
        index: 0,
        content: {
          role: "model",
          parts: [
            { text: texts.join("") },
            ...(toolArguments === undefined
              ? []
              : [{ functionCall: { name: TOOL_NAME, args: JSON.parse(toolArguments) as object } }]),
          ],
        },
        finishReason: "STOP",
      },
    ],
    ...(usage ? { usageMetadata: genaiUsage(usage) } : {}),
    modelVersion: MODEL,
  }),
  events: ({ texts, toolArguments, usage, usageTwice }) => {
    const chunk = (parts: readonly object[], more: object, counts: SpokenUsage | undefined) =>
      data({
        candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
        ...(counts ? { usageMetadata: genaiUsage(counts) } : {}),
        modelVersion: MODEL,
      });
    const events = texts.map((text) => chunk([{ text }], {}, usageTwice ? usage : undefined));
    if (toolArguments !== undefined) {
      const args = JSON.parse(toolArguments) as object;
      events.push(chunk([{ functionCall: { name: TOOL_NAME, args } }], {}, undefined));
    }
    const contentUntil = events.length;
    events.push(chunk([{ text: "" }], { finishReason: "STOP" }, usage));
    return { events, contentFrom: 0, contentUntil, usageUntil: contentUntil + 1 };
  },
  error: (code, message) => ({ error: { code, message, status: "INTERNAL" } }),
  errorEvent: (message) => data({ error: { code: 500, message, status: "INTERNAL" } }),
};

const genaiUsage = ({ input, cached, output }: SpokenUsage) => ({
  promptTokenCount: input + cached,
  cachedContentTokenCount: cached,
  candidatesTokenCount: output,
  totalTokenCount: input + cached + output,
});

/** Three of the dialects; the fourth has its own file. */
export const SAMPLED_WIRES = { chat, messages, genai } as const;
