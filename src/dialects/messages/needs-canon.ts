import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { WRAPPED_MARK } from "../../canon/opaque.ts";
import type { NativeHost } from "../dialect.ts";
import { FALLBACK } from "./native-words.ts";
import type { MessagesQuirks } from "./quirks.ts";

/** The members that may hold a value which this gateway wrapped for the client to send back. */
const POSITIONS = ["signature", "data", "encrypted_content", "encrypted_index"];

/**
 * Whether the history holds a value of another family, which only assistant blocks and their content can, or a system message
 * or a block of a fallback where the host does not accept one (choices 3).
 */
export function needsCanon(body: JsonObject, host: NativeHost<MessagesQuirks>): boolean {
  const messages = arrayAt(body, "messages");
  return messages.some((message, index) => {
    const role = stringAt(message, "role");
    if (role === "system") return !takesSystem(host) || !standsRight(messages, index);
    return (
      role === "assistant" &&
      arrayAt(message, "content").some((block) => isForeign(block) || (!host.quirks.fallbackBlocks && isSeam(block)))
    );
  });
}

const takesSystem = ({ quirks, traits }: NativeHost<MessagesQuirks>): boolean =>
  quirks.systemMessages && traits.systemMessages === true;

/**
 * Hosts accept a system message after a user message or a hosted tool's result, if an assistant message or nothing follows it.
 */
function standsRight(messages: readonly unknown[], index: number): boolean {
  const before = messages[index - 1];
  const after = stringAt(messages[index + 1], "role");
  const ran = stringAt(arrayAt(before, "content").at(-1), "type") === "server_tool_use";
  return (stringAt(before, "role") === "user" || ran) && (after === undefined || after === "assistant");
}

const isSeam = (block: unknown): boolean => stringAt(block, "type") === FALLBACK;

function isForeign(block: unknown): boolean {
  if (!isObject(block)) return false;
  return (
    // Reasoning of a family without signatures comes back unsigned, and hosts of this dialect reject it.
    (block["type"] === "thinking" && block["signature"] === "") ||
    POSITIONS.some((position) => stringAt(block, position)?.startsWith(WRAPPED_MARK)) ||
    arrayAt(block, "citations").some(isForeign) ||
    arrayAt(block, "content").some(isForeign)
  );
}
