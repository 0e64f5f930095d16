import type { JsonObject } from "../base/json.ts";
import type { FieldNote } from "../canon/receipt.ts";
import { noteOtherModels, ROUTING_FIELDS } from "../dialects/reading/routing-fields.ts";

const UNSENT: ReadonlySet<string> = new Set(ROUTING_FIELDS);

/** Notes on names of other models in a body, which are not used. */
export function notesOnOtherModels(body: JsonObject): FieldNote[] {
  const notes: FieldNote[] = [];
  noteOtherModels(body, notes);
  return notes;
}

/** Whether a field of this name is sent to providers. */
export const isSent = (name: string): boolean => !UNSENT.has(name);

/** A body without routing fields and names of other models, which no provider is sent. */
export const withoutRouting = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => isSent(name)));
