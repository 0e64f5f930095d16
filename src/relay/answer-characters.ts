import type { JsonObject } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import { charactersOf } from "../canon/reply.ts";
import { UPSTREAM_CODECS } from "../dialects/index.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { makeId } from "./ids.ts";

/** How much an upstream's whole answer says, for where it does not tell its usage. */
export function answerCharacters(body: JsonObject, { provider, offer, dialect }: PlannedOffer<Provider>): number {
  try {
    const { parts } = UPSTREAM_CODECS[dialect].decodeResponse(body, {
      origin: provider.originOf(dialect, offer.upstreamModel),
      quirks: provider.quirksOf(dialect),
      reading: {},
      makeId,
    });
    return charactersOf(parts);
  } catch (error) {
    // An answer that the canon takes for none, such as one without candidates, says nothing.
    if (error instanceof GatewayError) return 0;
    throw error;
  }
}
