import { arrayAt, isObject, type JsonObject, stringAt } from "../../canon/json.ts";
import { WRAPPED_MARK } from "../../canon/opaque.ts";

/** Where values stand that this gateway may have wrapped for the client to send back. */
const PLACES = ["signature", "data", "encrypted_content", "encrypted_index"];

/**
 * Whether the history holds a value of another family, which only the assistant's blocks and what stands in them can, or a
 * system message, which hosts of this protocol do not take there (decisions §3).
 */
export function carriesForeign(body: JsonObject): boolean {
  return arrayAt(body, "messages").some((message) => {
    const role = stringAt(message, "role");
    return role === "system" || (role === "assistant" && arrayAt(message, "content").some(isForeign));
  });
}

function isForeign(block: unknown): boolean {
  if (!isObject(block)) return false;
  return (
    // Reasoning of a family that signs nothing comes back unsigned, and this one refuses it.
    (block["type"] === "thinking" && block["signature"] === "") ||
    PLACES.some((place) => stringAt(block, place)?.startsWith(WRAPPED_MARK)) ||
    arrayAt(block, "citations").some(isForeign) ||
    arrayAt(block, "content").some(isForeign)
  );
}
