/** Pairs of protocols: what a client speaks, and what its host does. */

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

/** A client and a host of one protocol. */
export const NATIVE_PAIRS: readonly Pair[] = BENCH_DIALECTS.map((dialect): Pair => [dialect, dialect]);

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

/** What a whole answer of each protocol holds, whoever passed it on, but for spaces between its members. */
export const ANSWER_MARKS: Readonly<Record<BenchDialect, RegExp>> = {
  chat: /"finish_reason": ?"stop"/,
  messages: /"stop_reason": ?"end_turn"/,
  genai: /"finishReason": ?"(?:finish_reason_)?stop"/i,
  responses: /"status": ?"completed"/,
};
