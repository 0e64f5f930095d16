/** Pairs of protocols: what a client speaks, and what its host does. */
import { UPSTREAM_MODEL } from "./bodies.ts";

export type BenchDialect = "chat" | "messages" | "genai" | "responses";
export type Pair = readonly [client: BenchDialect, upstream: BenchDialect];

const BENCH_DIALECTS: readonly BenchDialect[] = ["chat", "messages", "genai", "responses"];

export const PAIRS: readonly Pair[] = BENCH_DIALECTS.flatMap((client) =>
  BENCH_DIALECTS.filter((upstream) => upstream !== client).map((upstream): Pair => [client, upstream]),
);

/** Of each protocol once what clients speak and once what hosts do: enough for a look. */
export const SOME_PAIRS: readonly Pair[] = [
  ["chat", "messages"],
  ["messages", "chat"],
  ["genai", "responses"],
  ["responses", "genai"],
];

/** The native lane of the other protocols; chat has bodies of its own (`bodies.ts`). */
export const NATIVE_PAIRS: readonly Pair[] = [
  ["messages", "messages"],
  ["genai", "genai"],
  ["responses", "responses"],
];

/** How a row names a pair. */
export const nameOf = ([client, upstream]: Pair): string => (client === upstream ? client : `${client} to ${upstream}`);

/** The one that other gateways know, too. */
export const CHAT_TO_MESSAGES: Pair = ["chat", "messages"];

/** A separate model for each pair, whose host speaks only the second protocol. */
export const modelOf = ([client, upstream]: Pair): string => `bench/${client}-to-${upstream}`;

/** Where clients send a request. */
export const pathOf = (pair: Pair): string =>
  ({
    chat: "/api/v1/chat/completions",
    messages: "/api/msg/v1/messages",
    genai: `/api/genai/v1beta/models/${modelOf(pair)}:generateContent`,
    responses: "/api/v1/responses",
  })[pair[0]];

const TEXT = "The build failed at the second step because the lock file names a package that is gone.";
const CREATED = 1_767_225_600;

/** The responses of hosts; chat's is the one of the native rows. */
export const ANSWERS = {
  messages: {
    id: "msg_01XFDUDYJgAACzvnptvVoYEL",
    type: "message",
    role: "assistant",
    model: UPSTREAM_MODEL,
    content: [{ type: "text", text: TEXT }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 214, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 37 },
  },
  genai: {
    candidates: [{ content: { role: "model", parts: [{ text: TEXT }] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 214, candidatesTokenCount: 37, totalTokenCount: 251 },
    modelVersion: UPSTREAM_MODEL,
    responseId: "CbT9vQe3mJk2sYp0Zr7LhX",
  },
  responses: {
    id: "resp_0b7a5c1e9d3f4a6b8c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f",
    object: "response",
    created_at: CREATED,
    completed_at: CREATED,
    status: "completed",
    error: null,
    incomplete_details: null,
    model: UPSTREAM_MODEL,
    output: [
      {
        id: "msg_0b7a5c1e9d3f4a6b8c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", annotations: [], logprobs: [], text: TEXT }],
      },
    ],
    usage: {
      input_tokens: 214,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 37,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 251,
    },
  },
} as const satisfies Partial<Record<BenchDialect, object>>;

/** What a whole answer of each protocol holds, whoever passed it on, but for spaces between its members. */
export const ANSWER_MARKS: Readonly<Record<BenchDialect, RegExp>> = {
  chat: /"finish_reason": ?"stop"/,
  messages: /"stop_reason": ?"end_turn"/,
  genai: /"finishReason": ?"(?:finish_reason_)?stop"/i,
  responses: /"status": ?"completed"/,
};
