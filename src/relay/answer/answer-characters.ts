import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { weightOfParts } from "../../canon/reply.ts";
import type { TextTarget } from "../../routing/target.ts";

/** How many characters a complete response contains, for hosts that do not report usage. */
export function answerCharacters(body: JsonObject, { codec, origin, quirks }: TextTarget): number {
  try {
    const { parts } = codec.decodeResponse(body, {
      origin,
      quirks,
      reading: {},
      // The id is not used: the reply is only counted.
      makeId: () => "",
    });
    return weightOfParts(parts);
  } catch (error) {
    // A response that the canon rejects, such as one without candidates, has no text.
    if (error instanceof GatewayError) return 0;
    throw error;
  }
}
