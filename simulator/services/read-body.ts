import type { HostError } from "../host-error.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";

/** How a host says what is wrong with a request. */
export type Refuse = (message: string, field: string) => HostError;

/** A body of which the host knows these fields, and refuses any other. */
export function readFields(body: Json | undefined, known: ReadonlySet<string>, refuse: Refuse): JsonObject {
  if (!isObject(body)) throw refuse("The body is not a JSON object.", "");
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown !== undefined) throw refuse(`Unrecognized request argument supplied: ${unknown}`, unknown);
  return body;
}

/** From one up to the maximum number of texts, none of them empty. */
export function readTexts(value: Json | undefined, most: number, field: string, refuse: Refuse): string[] {
  if (!Array.isArray(value) || value.length === 0) throw refuse(`${field} must be a list of texts.`, field);
  if (value.length > most) throw refuse(`${field} has ${value.length} items; at most ${most} are allowed.`, field);
  return value.map((text, index) => {
    if (typeof text === "string" && text !== "") return text;
    throw refuse(`${field}[${index}] must be a text that is not empty.`, field);
  });
}

export function readCount(value: Json | undefined, field: string, refuse: Refuse): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
  throw refuse(`${field} must be a whole number above 0.`, field);
}
