/** Small well-formed chunks of each dialect's upstream wire. */
export const wire = {
  chatChunk: (delta: object, finish: string | null = null, extra: object = {}) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "upstream-model-2026", choices: [{ index: 0, delta, finish_reason: finish }], usage: null, ...extra })}\n\n`,
  chatUsage: (usage: object) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "upstream-model-2026", choices: [], usage })}\n\n`,
  done: "data: [DONE]\n\n",
  event: (event: { type: string } & Record<string, unknown>) =>
    `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  messageStart: (usage: object = { input_tokens: 10, output_tokens: 1 }) =>
    wire.event({
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "upstream-model",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    }),
  textBlock: (...texts: string[]) =>
    wire.event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
    texts
      .map((text) => wire.event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }))
      .join(""),
  messageEnd: (usage: object = { output_tokens: 7 }) =>
    wire.event({ type: "content_block_stop", index: 0 }) +
    wire.event({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage }) +
    wire.event({ type: "message_stop" }),
  genaiChunk: (
    text: string,
    finishReason?: string,
    usage: object = { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
  ) =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] }, ...(finishReason ? { finishReason } : {}), index: 0 }], usageMetadata: usage, modelVersion: "upstream-model" })}\r\n\r\n`,
};
