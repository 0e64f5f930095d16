/** Requests as clients of each protocol send them, written by the gateway's own codecs, so that all say the same. */
import type { JsonObject } from "../src/base/json.ts";
import { DIALECTS, UPSTREAM_CODECS } from "../src/dialects/index.ts";
import { TARGETS } from "../testing/translate-sample.ts";
import { LARGE_REQUEST, LONG_ANSWER_REQUEST } from "./bodies.ts";
import { modelOf, type Pair } from "./translated-pairs.ts";

/** The request in the client's protocol; made once for each pair. */
function translated(source: Uint8Array): (pair: Pair) => Uint8Array {
  const requests = new Map<string, Uint8Array>();
  return (pair) => {
    const model = modelOf(pair);
    const known = requests.get(model);
    if (known !== undefined) return known;
    const call = DIALECTS.chat.codec.decodeRequest(JSON.parse(new TextDecoder().decode(source)) as JsonObject);
    const context = { ...TARGETS[pair[0]].context, upstreamModel: model };
    const { body } = UPSTREAM_CODECS[pair[0]].encodeRequest(call, context);
    const request = new TextEncoder().encode(JSON.stringify(body));
    requests.set(model, request);
    return request;
  };
}

export const translatedRequest = translated(LARGE_REQUEST);
/** A small request to which long answers are possible. */
export const translatedQuestion = translated(LONG_ANSWER_REQUEST);
