/** Streamed answers of a host that speaks chat, piece by piece. */
export const SSE = { "content-type": "text/event-stream" };

const frame = (rest: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "upstream", ...rest })}\n\n`;

export const chatChunk = (delta: object, finish: string | null = null): string =>
  frame({ choices: [{ index: 0, delta, finish_reason: finish }] });

export const textChunk = (content: string, finish: string | null = null): string => chatChunk({ content }, finish);

export const usageChunk = (input: number, output: number): string =>
  frame({
    choices: [],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });

export const DONE = "data: [DONE]\n\n";
