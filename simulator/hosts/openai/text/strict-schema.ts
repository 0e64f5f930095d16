import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { invalid } from "./errors.ts";

function children(schema: JsonObject): [string, Json][] {
  const named = ["properties", "$defs"].flatMap((member) =>
    isObject(schema[member])
      ? Object.entries(schema[member]).map(([name, one]): [string, Json] => [`'${member}', '${name}'`, one])
      : [],
  );
  const items: [string, Json][] = schema.items === undefined ? [] : [["'items'", schema.items]];
  const options = (Array.isArray(schema.anyOf) ? schema.anyOf : []).map((one, at): [string, Json] => [
    `'anyOf', '${at}'`,
    one,
  ]);
  return [...named, ...items, ...options];
}

/** With `strict`, every object of a schema is closed and all its properties are required. */
export function checkStrictSchema(schema: Json, whose: string, param: string, code: string | null, context = ""): void {
  if (!isObject(schema)) return;
  const refuse = (reason: string): Error =>
    invalid(`Invalid schema for ${whose}: In context=(${context}), ${reason}`, param, code);
  if (schema.type === "object" || isObject(schema.properties)) {
    if (schema.additionalProperties !== false) {
      throw refuse("'additionalProperties' is required to be supplied and to be false.");
    }
    const required = Array.isArray(schema.required) ? schema.required : [];
    const missing = Object.keys(isObject(schema.properties) ? schema.properties : {}).find(
      (name) => !required.includes(name),
    );
    if (missing !== undefined) {
      throw refuse(
        `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`,
      );
    }
  }
  for (const [step, child] of children(schema)) {
    checkStrictSchema(child, whose, param, code, context === "" ? step : `${context}, ${step}`);
  }
}
