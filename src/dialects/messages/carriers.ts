import { type JsonObject, stringAt } from "../../base/json.ts";
import { type Carrier, unwrapCarrier, wrapCarrier } from "../request/carriers.ts";

/** A `redacted_thinking` block that carries the signature of a text or call (H01). */
export const encodeCarrier = (carrier: Carrier): JsonObject => ({
  type: "redacted_thinking",
  data: wrapCarrier(carrier),
});

/** Undefined if the block's value is real reasoning, or of the dialect's own origin. */
export function decodeCarrier(block: unknown): Carrier | undefined {
  const data = stringAt(block, "type") === "redacted_thinking" ? stringAt(block, "data") : undefined;
  return data === undefined ? undefined : unwrapCarrier(data);
}

/** Whether a block written by the gateway only carries the signature of the text before it, or of an empty text. */
export function carriesTextSignature(block: JsonObject | undefined): boolean {
  const position = decodeCarrier(block)?.position;
  return position === "text" || position === "empty-text";
}
