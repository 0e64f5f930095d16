import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { weightOfParts } from "../../canon/reply.ts";
import type { TextTarget } from "../../routing/target.ts";

/** How much an upstream's whole answer says, for where it does not tell its usage. */
export function answerCharacters(body: JsonObject, { codec, origin, quirks }: TextTarget): number {
  try {
    const { parts } = codec.decodeResponse(body, {
      origin,
      quirks,
      reading: {},
      // It is counted, and not sent.
      makeId: () => "",
    });
    return weightOfParts(parts);
  } catch (error) {
    // An answer that the canon takes for none, such as one without candidates, says nothing.
    if (error instanceof GatewayError) return 0;
    throw error;
  }
}
