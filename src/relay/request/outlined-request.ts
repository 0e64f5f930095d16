import type { JsonObject } from "../../base/json.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";

const decoder = new TextDecoder();
const ESCAPE = Buffer.from("\\u");

/**
 * A request of which only the outline was read. Its text and its whole body are made for those who ask for them. A copy of it has
 * them, too.
 */
export function outlinedRequest(
  bytes: Buffer,
  read: Required<Pick<ReceivedRequest, "outline" | "levels" | "mayNameObjects">>,
): ReceivedRequest {
  let body: JsonObject | undefined;
  return {
    ...read,
    bytes,
    get text() {
      return decoder.decode(bytes);
    },
    get body() {
      body ??= JSON.parse(this.text) as JsonObject;
      return body;
    },
    get characters() {
      return this.text.length;
    },
    get surplusBytes() {
      return bytes.includes(ESCAPE) ? undefined : bytes.length - this.text.length;
    },
  };
}
