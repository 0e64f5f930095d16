/** Whole answers of hosts in each protocol, encoded once: a short one, and those of ordinary size. */
import { prose, UNARY_ANSWER, UPSTREAM_MODEL, unaryAnswer } from "../bodies.ts";
import { responsesAnswer } from "../responses-bodies.ts";
import type { BenchDialect } from "../translated-pairs.ts";

/** `ascii` and `unicode` have 20 KB of prose and code; the second is not all ASCII. */
export type AnswerKind = "short" | "ascii" | "unicode";

const KINDS: readonly AnswerKind[] = ["short", "ascii", "unicode"];

const SHORT_TEXT = "The build failed at the second step because the lock file names a package that is gone.";
const LONG_BYTES = 20 * 1024;
/** The end of every long text, by which a client sees that it is whole. */
export const LAST_WORDS = "That is the whole of the change.";

function longText(unicode: boolean): string {
  const parts: string[] = [];
  for (let bytes = 0, part = 0; bytes < LONG_BYTES; part++) {
    const code = `\`\`\`ts\nexport const names = {\n\t"part-${part}": "${part}",\n};\n\`\`\``;
    const text = `## Step ${part}\n\n${prose(part, 600, unicode)}\n\n${code}\n\n`;
    parts.push(text);
    bytes += Buffer.byteLength(JSON.stringify(text));
  }
  return parts.join("") + LAST_WORDS;
}

const texts: Readonly<Record<AnswerKind, string>> = {
  short: SHORT_TEXT,
  ascii: longText(false),
  unicode: longText(true),
};

const ANSWERS: Readonly<Record<BenchDialect, (text: string, outputTokens: number) => object>> = {
  chat: unaryAnswer,
  messages: (text, output_tokens) => ({
    id: "msg_01XFDUDYJgAACzvnptvVoYEL",
    type: "message",
    role: "assistant",
    model: UPSTREAM_MODEL,
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 214, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens },
  }),
  genai: (text, candidatesTokenCount) => ({
    candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 214, candidatesTokenCount, totalTokenCount: 214 + candidatesTokenCount },
    modelVersion: UPSTREAM_MODEL,
    responseId: "CbT9vQe3mJk2sYp0Zr7LhX",
  }),
  responses: responsesAnswer,
};

const encoder = new TextEncoder();

function encodeAnswer(dialect: BenchDialect, kind: AnswerKind): Uint8Array {
  if (dialect === "chat" && kind === "short") return UNARY_ANSWER;
  const text = texts[kind];
  return encoder.encode(JSON.stringify(ANSWERS[dialect](text, Math.ceil(text.length / 4))));
}

/** An answer of the protocol of each kind. */
export const hostAnswers = (dialect: BenchDialect): ReadonlyMap<AnswerKind, Uint8Array> =>
  new Map(KINDS.map((kind) => [kind, encodeAnswer(dialect, kind)]));
