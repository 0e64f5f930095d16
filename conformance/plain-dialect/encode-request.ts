import type { JsonObject } from "../../src/base/json.ts";
import type { CanonCall, Turn } from "../../src/canon/call.ts";
import { mergeExtras, reportExtras } from "../../src/canon/extras.ts";
import { Notes } from "../../src/canon/notes.ts";
import type { EncodedRequest, EncodeRequestContext } from "../../src/dialects/codec.ts";

const UNKNOWN = "this protocol has no such thing";

export function encodeRequest(call: CanonCall, { upstreamModel, stream }: EncodeRequestContext): EncodedRequest {
  const notes = new Notes();
  const own = call.dialect === "plain";
  if (!own) reportExtras(call, notes);
  for (const tool of call.tools) notes.dropped(tool.path, UNKNOWN);
  if (call.reasoning !== undefined) notes.dropped(call.reasoning.path, UNKNOWN);
  for (const [setting, path] of Object.entries(call.paths)) {
    if (setting !== "maxOutputTokens") notes.dropped(path, UNKNOWN);
  }
  const system = call.system.map(({ text }) => ({ who: "system", text }));
  const lines = call.turns.map((turn) => encodeTurn(turn, own, notes));
  const body: JsonObject = {
    model: upstreamModel,
    ...(stream ? { stream } : {}),
    lines: [...system, ...lines],
    ...(call.maxOutputTokens === undefined ? {} : { most: call.maxOutputTokens }),
  };
  return { body: own ? mergeExtras(body, call.extras) : body, notes: notes.list, reading: {} };
}

function encodeTurn({ role, parts, extras }: Turn, own: boolean, notes: Notes): JsonObject {
  for (const part of parts) if (part.type !== "text") notes.dropped(part.path ?? "", UNKNOWN);
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  return { who: role === "assistant" ? "model" : role, text, ...(own ? extras : {}) };
}
