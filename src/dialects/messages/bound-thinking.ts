import { arrayAt, isObject, type JsonObject, objectAt } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { MessagesQuirks } from "./quirks.ts";

/** The beta that hosts require for `block_binding`. */
const BETA = "thinking-binding-controls-2026-08-01";
const BINDING = "block_binding";
const THINKING: readonly unknown[] = ["thinking", "redacted_thinking"];

interface Target {
  mayUnbind?: boolean;
  quirks: Pick<MessagesQuirks, "forwardBetas">;
}

/** What a request needs so that its model leaves out blocks that are bound to another conversation, instead of refusing the request. */
interface Unbound {
  thinking: JsonObject;
  headers: Readonly<Record<string, string>>;
  note: FieldNote;
}

/** Undefined if the conversation is as its client sent it, and if the client itself says what happens to such blocks (H72). */
export function unboundThinking(
  { thinking, messages }: { thinking: JsonObject | undefined; messages: readonly unknown[] },
  { mayUnbind, quirks }: Target,
): Unbound | undefined {
  if (mayUnbind !== true || !quirks.forwardBetas) return undefined;
  const isSigned = messages.some((message) =>
    arrayAt(message, "content").some((block) => isObject(block) && THINKING.includes(block["type"])),
  );
  if (!isSigned || objectAt(thinking, BINDING) !== undefined) return undefined;
  const reason = "a guard changed the conversation, so the model drops thinking that is bound to what it saw before";
  return {
    thinking: { ...(thinking ?? { type: "adaptive" }), [BINDING]: { prefix_mismatch_behavior: "drop_block" } },
    headers: { "anthropic-beta": BETA },
    note: { path: "thinking", action: "approximated", reason },
  };
}
