/** The same for the Responses dialect: an event for each chunk, named and numbered, as a host gives them that hides the length of its tokens. */
import { UPSTREAM_MODEL } from "./bodies.ts";

const encoder = new TextEncoder();

export const RESPONSES_MODEL = "bench/responses";

export const RESPONSES_REQUEST = encoder.encode(
  JSON.stringify({
    model: RESPONSES_MODEL,
    stream: true,
    instructions: "The build failed at the second step because the lock file names a package that is gone. ".repeat(6),
    input: [{ role: "user", content: "Read the file again before you change it; somebody else may have. ".repeat(4) }],
    store: false,
  }),
);

/** Events of a stream beside its deltas: four before them, and four after. */
export const RESPONSES_EVENTS_AROUND = 8;

/** How the last event ends, whoever passed it on. */
export const RESPONSES_END = '"user":null}}\n\n';

const ITEM_ID = "msg_0b7a5c1e9d3f4a6b8c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f";
const WORDS = ["The", " build", " failed", " at", " the", " second", " step", ",", " because", " überall"];
const PADDING = "Zk3Qx9LmT2wV";
const WHERE = { item_id: ITEM_ID, output_index: 0, content_index: 0 };

const event = (type: string, sequence_number: number, fields: object): Uint8Array =>
  encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`);

function response(status: string, output: readonly unknown[], usage: unknown) {
  return {
    id: "resp_0b7a5c1e9d3f4a6b8c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f",
    object: "response",
    created_at: 1_767_225_600,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: UPSTREAM_MODEL,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage,
    metadata: {},
    user: null,
  };
}

const message = (status: string, content: readonly unknown[]) => ({
  id: ITEM_ID,
  type: "message",
  status,
  role: "assistant",
  content,
});

const textPart = (text: string) => ({ type: "output_text", annotations: [], logprobs: [], text });

const usageOf = (output_tokens: number) => ({
  input_tokens: 214,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 214 + output_tokens,
});

/** The same as a whole answer. */
export const responsesAnswer = (text: string, outputTokens: number) =>
  response("completed", [message("completed", [textPart(text)])], usageOf(outputTokens));

export const RESPONSES_BEGINNING = Buffer.concat([
  event("response.created", 0, { response: response("in_progress", [], null) }),
  event("response.in_progress", 1, { response: response("in_progress", [], null) }),
  event("response.output_item.added", 2, { output_index: 0, item: message("in_progress", []) }),
  event("response.content_part.added", 3, { ...WHERE, part: textPart("") }),
]);

const wordAt = (index: number): string => WORDS[index % WORDS.length] ?? "";

const deltas: Uint8Array[] = [];

/** One delta of many, numbered; made once. */
export function responsesDelta(index: number): Uint8Array {
  deltas[index] ??= event("response.output_text.delta", 4 + index, {
    ...WHERE,
    delta: wordAt(index),
    logprobs: [],
    obfuscation: PADDING.slice(0, 12 - (index % 7)),
  });
  return deltas[index] ?? new Uint8Array();
}

const endings = new Map<number, Uint8Array>();

/** What follows so many deltas, in one write. */
export function responsesEnding(count: number): Uint8Array {
  const known = endings.get(count);
  if (known !== undefined) return known;
  const text = Array.from({ length: count }, (_, index) => wordAt(index)).join("");
  const done = message("completed", [textPart(text)]);
  const ending = Buffer.concat([
    event("response.output_text.done", 4 + count, { ...WHERE, text, logprobs: [] }),
    event("response.content_part.done", 5 + count, { ...WHERE, part: textPart(text) }),
    event("response.output_item.done", 6 + count, { output_index: 0, item: done }),
    event("response.completed", 7 + count, { response: response("completed", [done], usageOf(count)) }),
  ]);
  endings.set(count, ending);
  return ending;
}
