// https://platform.claude.com/docs/en/api/migration-2026-10-21

import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";

/** The API version that the vendor's SDKs send since October 2026. Its responses have the format of the previous version. */
export const VERSION_2026 = "2026-10-21";

/** Removed from the API: a request with one of these is rejected, whatever its value. */
const SAMPLING = ["temperature", "top_p", "top_k"] as const;

/** Something in a request that the previous version accepts and this one rejects with 400. */
interface Removed {
  path: string;
  /** What is there, if the path does not say so. */
  what?: string;
}

export function refusedBy2026(body: JsonObject): Removed | undefined {
  const setting = SAMPLING.find((name) => body[name] !== undefined && body[name] !== null);
  if (setting !== undefined) return { path: setting };
  const messages = arrayAt(body, "messages");
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    const role = stringAt(message, "role");
    const blocks = arrayAt(message, "content");
    // Documents inside other assistant blocks, such as hosted tool results, are accepted.
    const at = blocks.findIndex((block) =>
      role === "assistant" ? stringAt(block, "type") === "document" : holdsCitedText(block),
    );
    if (at < 0) continue;
    const what = role === "assistant" ? "a document in an assistant message" : "citations in a user message";
    return { path: `messages[${index}].content[${at}]`, what };
  }
  return undefined;
}

/** A request is held to the rules of the version that it names. */
export function refuseRemoved(body: JsonObject): void {
  const removed = refusedBy2026(body);
  if (removed === undefined) return;
  const { path, what } = removed;
  const shown = what === undefined ? path : `${path} (${what})`;
  const message = `${shown} is not accepted by version ${VERSION_2026} of the API. Remove it, or send anthropic-version: 2023-06-01.`;
  throw new GatewayError("invalid_request", message, { path });
}

/** Citations of a text, directly or inside a search result or a tool result. A document's own setting is not a list. */
function holdsCitedText(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (block["type"] === "text") return arrayAt(block, "citations").length > 0;
  return arrayAt(block, "content").some(holdsCitedText);
}
