/** Streams whose client and host speak different protocols: what is asked for, what hosts of messages and genai send, how a whole answer ends. */
import type { JsonObject } from "../src/base/json.ts";
import { DIALECTS, UPSTREAM_CODECS } from "../src/dialects/index.ts";
import { TARGETS } from "../testing/translate-sample.ts";
import { STREAM_REQUEST } from "./bodies.ts";
import { type BenchDialect, modelOf, type Pair, pathOf } from "./translated-pairs.ts";

/** The small streamed question as a client of each protocol sends it. */
export function translatedStreamRequest(pair: Pair): Uint8Array {
  const call = DIALECTS.chat.codec.decodeRequest(JSON.parse(new TextDecoder().decode(STREAM_REQUEST)) as JsonObject);
  const context = { ...TARGETS[pair[0]].context, upstreamModel: modelOf(pair) };
  const { body } = UPSTREAM_CODECS[pair[0]].encodeRequest(call, context);
  // In genai the path asks for it.
  const asked = pair[0] === "genai" ? body : { ...body, stream: true };
  return new TextEncoder().encode(JSON.stringify(asked));
}

export const streamPathOf = (pair: Pair): string =>
  pathOf(pair).replace(/:generateContent$/, ":streamGenerateContent?alt=sse");

/** Found in the last bytes of every whole stream, whoever passed it on. */
export const STREAM_ENDS: Readonly<Record<BenchDialect, RegExp>> = {
  chat: /data: \[DONE\]\n\n$/,
  messages: /"type": ?"message_stop"/,
  genai: /"finishReason": ?"(?:finish_reason_)?stop"/i,
  responses: /"type": ?"response\.completed"/,
};
