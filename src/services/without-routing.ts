import type { JsonObject } from "../base/json.ts";
import type { FieldNote } from "../canon/receipt.ts";
import { noteOtherModels, ROUTING_FIELDS } from "../dialects/reading/routing-fields.ts";

const UNSENT: ReadonlySet<string> = new Set(ROUTING_FIELDS);

/** What a body asks of other models, which none is asked for. */
export function notesOnOtherModels(body: JsonObject): FieldNote[] {
  const notes: FieldNote[] = [];
  noteOtherModels(body, notes);
  return notes;
}

/** Whether a provider is sent a field of that name. */
export const isSent = (name: string): boolean => !UNSENT.has(name);

/** A body without what it says to the gateway itself, and without other models' names: no provider is sent these. */
export const withoutRouting = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => isSent(name)));
