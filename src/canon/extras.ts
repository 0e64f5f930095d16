import { isObject, type JsonObject } from "../base/json.ts";
import { putField } from "../base/put-field.ts";
import { type CanonCall, type Extra, pathOfExtra } from "./call.ts";
import { fieldPath } from "./field-names.ts";
import type { Notes } from "./notes.ts";
import type { Part } from "./part.ts";

const REASON = "only its own protocol has this field, and this provider uses another one";

const BY_THE_MODEL = "only the model calls tools at this provider, not the programs that it writes";

type Crossing = NonNullable<Extra["crosses"]>["as"];

/** Notes every field that exists only in the client's dialect, for a target of another dialect. `sent`: what it gets in its own form. */
export function reportExtras(call: CanonCall, notes: Notes, sent: readonly Crossing[] = []): void {
  for (const extra of call.extras) {
    const { crosses } = extra;
    if (crosses === undefined || !sent.includes(crosses.as)) notes.dropped(pathOfExtra(extra), REASON);
    else for (const path of crosses.without) notes.dropped(path, REASON);
  }
  for (const tool of call.tools) {
    report(tool.extras, tool.path, notes);
    if (tool.callers?.some((caller) => caller !== "direct")) {
      notes.approximated(fieldPath(call.fieldNames, tool, "callers"), BY_THE_MODEL);
    }
  }
  for (const part of call.system) reportPart(part, notes);
  for (const turn of call.turns) {
    report(turn.extras, turn.path, notes);
    for (const part of turn.parts) reportPart(part, notes);
  }
}

function reportPart(part: Part, notes: Notes): void {
  report(part.extras, part.path, notes);
  if (part.type === "tool-result" || part.type === "search-result") {
    for (const inner of part.content) reportPart(inner, notes);
  }
  if (part.type === "media" && part.source.type === "parts") {
    for (const inner of part.source.parts) reportPart(inner, notes);
  }
}

function report(extras: JsonObject | undefined, path: string | undefined, notes: Notes): void {
  if (extras === undefined) return;
  for (const key of Object.keys(extras)) notes.dropped(path === undefined ? key : `${path}.${key}`, REASON);
}

/** Puts a call's extras back into a request of the same dialect. */
export function mergeExtras(body: JsonObject, extras: readonly Extra[]): JsonObject {
  if (extras.length === 0) return body;
  const merged = { ...body };
  // Reuse the copies made here. A copy for each extra would take quadratic time.
  const copies = new Set<unknown>([merged]);
  for (const { keys, value } of extras) {
    const last = keys.at(-1);
    if (last === undefined) continue;
    const holder = keys.slice(0, -1).reduce((outer, key) => copyAt(outer, key, copies), merged);
    putField(holder, last, value);
  }
  return merged;
}

function copyAt(outer: Record<string, unknown>, key: string, copies: Set<unknown>): Record<string, unknown> {
  const inner = Object.hasOwn(outer, key) ? outer[key] : undefined;
  if (isObject(inner) && copies.has(inner)) return inner;
  const copy = isObject(inner) ? { ...inner } : {};
  copies.add(copy);
  putField(outer, key, copy);
  return copy;
}
