/** The streams of hosts in each protocol: the same words, encoded once. */
import { CONTENT_CHUNKS, FIRST_CHUNK, STREAM_ENDING, UPSTREAM_MODEL } from "../bodies.ts";
import { RESPONSES_BEGINNING, responsesDelta, responsesEnding } from "../responses-bodies.ts";
import type { BenchDialect } from "../translated-pairs.ts";

const encoder = new TextEncoder();
const WORDS = ["The", " build", " failed", " at", " the", " second", " step", ",", " because", " überall"];

export interface HostStream {
  beginning: Uint8Array;
  chunkAt(index: number): Uint8Array;
  /** The end of a stream of this many chunks. */
  endingAfter(count: number): Uint8Array;
}

/** A stream whose chunks are not numbered: a few, again and again. */
const repeating = (beginning: Uint8Array, chunks: readonly Uint8Array[], ending: Uint8Array): HostStream => ({
  beginning,
  chunkAt: (index) => chunks[index % chunks.length] ?? ending,
  endingAfter: () => ending,
});

const named = (data: { type: string; [name: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const events = (...texts: readonly string[]) => encoder.encode(texts.join(""));

const usage = { input_tokens: 214, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
const message = {
  id: "msg_01XFDUDYJgAACzvnptvVoYEL",
  type: "message",
  role: "assistant",
  model: UPSTREAM_MODEL,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage,
};

const MESSAGES_STREAM = repeating(
  events(
    named({ type: "message_start", message }),
    named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  ),
  WORDS.map((text) => events(named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }))),
  events(
    named({ type: "content_block_stop", index: 0 }),
    named({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { ...usage, output_tokens: 200 },
    }),
    named({ type: "message_stop" }),
  ),
);

function genaiChunk(text: string, finishReason?: string): Uint8Array {
  const data = {
    candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0, finishReason }],
    usageMetadata: { promptTokenCount: 214, candidatesTokenCount: 200, totalTokenCount: 414 },
    modelVersion: UPSTREAM_MODEL,
    responseId: "CbT9vQe3mJk2sYp0Zr7LhX",
  };
  return events(`data: ${JSON.stringify(data)}\r\n\r\n`);
}

const GENAI_STREAM = repeating(
  new Uint8Array(),
  WORDS.map((text) => genaiChunk(text)),
  genaiChunk(".", "STOP"),
);

export const HOST_STREAMS: Readonly<Record<BenchDialect, HostStream>> = {
  chat: repeating(FIRST_CHUNK, CONTENT_CHUNKS, STREAM_ENDING),
  messages: MESSAGES_STREAM,
  genai: GENAI_STREAM,
  responses: { beginning: RESPONSES_BEGINNING, chunkAt: responsesDelta, endingAfter: responsesEnding },
};
