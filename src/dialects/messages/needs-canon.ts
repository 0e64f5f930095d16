import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { WRAPPED_MARK } from "../../canon/opaque.ts";
import type { NativeHost } from "../dialect.ts";
import type { MessagesQuirks } from "./quirks.ts";

/** Where values stand that this gateway may have wrapped for the client to send back. */
const POSITIONS = ["signature", "data", "encrypted_content", "encrypted_index"];

/**
 * Whether the history holds a value of another family, which only the assistant's blocks and what stands in them can, or a
 * system message that the host does not take where it stands (choices 3).
 */
export function needsCanon(body: JsonObject, host: NativeHost<MessagesQuirks>): boolean {
  const messages = arrayAt(body, "messages");
  return messages.some((message, index) => {
    const role = stringAt(message, "role");
    if (role === "system") return !takesSystem(host) || !standsRight(messages, index);
    return role === "assistant" && arrayAt(message, "content").some(isForeign);
  });
}

const takesSystem = ({ quirks, traits }: NativeHost<MessagesQuirks>): boolean =>
  quirks.systemMessages && traits.systemMessages === true;

/** Hosts take a system message after the user's words, or after a tool that they run themselves, with an answer after it or nothing. */
function standsRight(messages: readonly unknown[], index: number): boolean {
  const before = messages[index - 1];
  const after = stringAt(messages[index + 1], "role");
  const ran = stringAt(arrayAt(before, "content").at(-1), "type") === "server_tool_use";
  return (stringAt(before, "role") === "user" || ran) && (after === undefined || after === "assistant");
}

function isForeign(block: unknown): boolean {
  if (!isObject(block)) return false;
  return (
    // Reasoning of a family that signs nothing comes back unsigned, and this one refuses it.
    (block["type"] === "thinking" && block["signature"] === "") ||
    POSITIONS.some((position) => stringAt(block, position)?.startsWith(WRAPPED_MARK)) ||
    arrayAt(block, "citations").some(isForeign) ||
    arrayAt(block, "content").some(isForeign)
  );
}
