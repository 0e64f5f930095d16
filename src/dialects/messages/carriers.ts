import { type JsonObject, stringAt } from "../../base/json.ts";
import { type Carrier, unwrapCarrier, wrapCarrier } from "../request/carriers.ts";

/** A signature of text or of a call, in a `redacted_thinking` block of its own (H01). */
export const encodeCarrier = (carrier: Carrier): JsonObject => ({
  type: "redacted_thinking",
  data: wrapCarrier(carrier),
});

/** Undefined where the block's value is reasoning of its own, or of the dialect's own origin. */
export function decodeCarrier(block: unknown): Carrier | undefined {
  const data = stringAt(block, "type") === "redacted_thinking" ? stringAt(block, "data") : undefined;
  return data === undefined ? undefined : unwrapCarrier(data);
}

/** Whether a block of our own making stands for nothing but the signature of the text before it, or of an empty one. */
export function carriesTextSignature(block: JsonObject | undefined): boolean {
  const position = decodeCarrier(block)?.position;
  return position === "text" || position === "empty-text";
}
