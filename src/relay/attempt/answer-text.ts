import { GatewayError } from "../../canon/error.ts";
import { isBrokenText } from "../../wire/is-broken-text.ts";

const decoder = new TextDecoder();

/** The text of a whole response. Throws if it is broken beyond repair. */
export function answerText(bytes: Uint8Array): string {
  if (isBrokenText(bytes)) throw new GatewayError("upstream_failed", "The provider's response is not valid UTF-8.");
  return decoder.decode(bytes);
}
