import { isObject, type JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { changeElements, ObjectEdit } from "../../wire/json-text.ts";

/** How harm is judged (contract 2.6). Hosts that do not accept labels reject the field. */
const FIELD = "method";

/** Indexes of the settings that name a method. */
function withMethod(settings: unknown): number[] {
  const all: readonly unknown[] = Array.isArray(settings) ? settings : [];
  return [...all.keys()].filter((index) => isObject(all[index]) && FIELD in all[index]);
}

export const methodNotes = (settings: unknown): FieldNote[] =>
  withMethod(settings).map((index) => ({
    path: `safetySettings[${index}].${FIELD}`,
    action: "dropped",
    reason: "this provider does not support safety methods",
  }));

/** The settings without their methods, in the text of a request. */
export function removeMethods(text: string, settings: unknown): string {
  const without = (setting: string) => new ObjectEdit(setting).remove(FIELD).toString();
  const changes = new Map(withMethod(settings).map((index) => [index, without] as const));
  return changeElements(text, ["safetySettings"], changes);
}

export function withoutMethods(settings: unknown): unknown {
  const without = ({ [FIELD]: _method, ...rest }: JsonObject) => rest;
  return Array.isArray(settings) ? settings.map((one: unknown) => (isObject(one) ? without(one) : one)) : settings;
}
