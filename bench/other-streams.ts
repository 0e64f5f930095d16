/** What hosts of messages and of genai stream: the same words as in chat, encoded once. */
import { UPSTREAM_MODEL } from "./bodies.ts";

const encoder = new TextEncoder();
const WORDS = ["The", " build", " failed", " at", " the", " second", " step", ",", " because", " überall"];

export interface StreamBytes {
  beginning: Uint8Array;
  content: readonly Uint8Array[];
  ending: Uint8Array;
}

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

export const MESSAGES_STREAM: StreamBytes = {
  beginning: events(
    named({ type: "message_start", message }),
    named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  ),
  content: WORDS.map((text) =>
    events(named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
  ),
  ending: events(
    named({ type: "content_block_stop", index: 0 }),
    named({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { ...usage, output_tokens: 200 },
    }),
    named({ type: "message_stop" }),
  ),
};

function genaiChunk(text: string, finishReason?: string): Uint8Array {
  const data = {
    candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0, finishReason }],
    usageMetadata: { promptTokenCount: 214, candidatesTokenCount: 200, totalTokenCount: 414 },
    modelVersion: UPSTREAM_MODEL,
    responseId: "CbT9vQe3mJk2sYp0Zr7LhX",
  };
  return events(`data: ${JSON.stringify(data)}\r\n\r\n`);
}

export const GENAI_STREAM: StreamBytes = {
  beginning: new Uint8Array(),
  content: WORDS.map((text) => genaiChunk(text)),
  ending: genaiChunk(".", "STOP"),
};
