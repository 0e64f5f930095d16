/** The large request as clients of each protocol send it, written by the gateway's own codecs, so that all say the same. */
import type { JsonObject } from "../src/base/json.ts";
import { DIALECTS, UPSTREAM_CODECS } from "../src/dialects/index.ts";
import { TARGETS } from "../testing/translate-sample.ts";
import { LARGE_REQUEST } from "./bodies.ts";
import { modelOf, type Pair } from "./translated-pairs.ts";

const requests = new Map<string, Uint8Array>();

/** Made once. */
export function translatedRequest(pair: Pair): Uint8Array {
  const model = modelOf(pair);
  const known = requests.get(model);
  if (known !== undefined) return known;
  const call = DIALECTS.chat.codec.decodeRequest(JSON.parse(new TextDecoder().decode(LARGE_REQUEST)) as JsonObject);
  const context = { ...TARGETS[pair[0]].context, upstreamModel: model };
  const request = new TextEncoder().encode(JSON.stringify(UPSTREAM_CODECS[pair[0]].encodeRequest(call, context).body));
  requests.set(model, request);
  return request;
}
