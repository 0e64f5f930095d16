import type { JsonObject } from "../../base/json.ts";
import { cachesAll } from "../../canon/cache-marks.ts";
import type { CanonCall } from "../../canon/call.ts";
import { fieldPath } from "../../canon/field-names.ts";
import type { Notes } from "../../canon/notes.ts";
import { resultsInCallOrder } from "../../canon/result-order.ts";
import type { EncodeRequestContext } from "../codec.ts";
import { CONTINUE_PROMPT } from "../request/continue-prompt.ts";
import type { ContentEncoder, EncodedParts } from "./content.ts";
import { cachePoint, takesCachePoints } from "./tools.ts";

export interface Message {
  role: "user" | "assistant";
  content: readonly JsonObject[];
}

/** Roles must alternate, so consecutive turns of one role become one message, with tool results first. */
export function encodeTurns(
  call: CanonCall,
  context: EncodeRequestContext,
  encoder: ContentEncoder,
  notes: Notes,
): Message[] {
  const merged: ({ role: Message["role"] } & EncodedParts)[] = [];
  for (const turn of resultsInCallOrder(call.turns)) {
    if (turn.name !== undefined) {
      notes.dropped(fieldPath(call.fieldNames, turn.path, "name"), "this protocol has no participant names");
    }
    const role = turn.role === "assistant" ? "assistant" : "user";
    const encoded = encoder.encode(turn.parts, role);
    if (turn.role === "system" && encoded.others.length > 0) {
      notes.approximated(
        turn.path,
        "this protocol has no system messages within a conversation; sent as a user message in tags",
      );
      encoded.others = encoded.others.map((block) =>
        typeof block["text"] === "string" ? { text: `<system>${block["text"]}</system>` } : block,
      );
    }
    if (encoded.results.length === 0 && encoded.others.length === 0) continue;
    const last = merged.at(-1);
    if (last?.role === role) {
      last.results.push(...encoded.results);
      last.others.push(...encoded.others);
    } else merged.push({ role, ...encoded });
  }
  const messages: Message[] = merged.map(({ role, results, others }) => ({
    role,
    content: [...results, ...withText(others, call, notes)],
  }));
  trimPrefill(messages, call, notes);
  if (messages[0]?.role !== "user") {
    notes.approximated(
      call.turns[0]?.path ?? "messages",
      'this provider requires the first message to be from the user; "." was inserted',
    );
    messages.unshift({ role: "user", content: [{ text: "." }] });
  }
  if (context.traits.prefill === false) askToGoOn(messages, call, notes);
  return cachesAll(call) ? markLast(messages, call, context, notes) : messages;
}

/** Models reject a partial response that ends in whitespace. */
function trimPrefill(messages: Message[], call: CanonCall, notes: Notes): void {
  const last = messages.at(-1);
  const text = last?.content.at(-1)?.["text"];
  if (last?.role !== "assistant" || typeof text !== "string" || text.trimEnd() === text) return;
  notes.approximated(
    call.turns.at(-1)?.path ?? "messages",
    "this provider rejects trailing whitespace in a partial response; it was removed",
  );
  messages[messages.length - 1] = { ...last, content: [...last.content.slice(0, -1), { text: text.trimEnd() }] };
}

/** Newer models reject a conversation that ends with an assistant message. */
function askToGoOn(messages: Message[], { turns }: CanonCall, notes: Notes): void {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.content.some((block) => "toolUse" in block)) return;
  notes.approximated(
    turns.at(-1)?.path ?? "messages",
    "the model cannot continue a partial response; an instruction to continue was added",
  );
  messages.push({ role: "user", content: [{ text: CONTINUE_PROMPT }] });
}

/** The provider rejects a document in a message without text. */
function withText(blocks: JsonObject[], { fieldNames }: CanonCall, notes: Notes): JsonObject[] {
  if (!blocks.some((block) => "document" in block) || blocks.some((block) => "text" in block)) return blocks;
  notes.approximated(
    fieldPath(fieldNames, undefined, "turns"),
    "this provider requires text with a document; a short one was added",
  );
  return [...blocks, { text: "(See the document.)" }];
}

function markLast(messages: Message[], call: CanonCall, context: EncodeRequestContext, notes: Notes): Message[] {
  const { cache = {}, paths } = call;
  const last = messages.at(-1);
  if (!takesCachePoints(context)) notes.dropped(paths.cache ?? "cache", "this model does not support cache marks");
  else if (
    last !== undefined &&
    !last.content.some((block, at) => at === last.content.length - 1 && "cachePoint" in block)
  ) {
    return [...messages.slice(0, -1), { ...last, content: [...last.content, cachePoint(cache)] }];
  }
  return messages;
}
