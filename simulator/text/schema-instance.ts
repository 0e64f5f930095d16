import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Seed } from "../seed.ts";
import { patternInstance } from "./pattern-instance.ts";

/** Below this depth only what is required is written, and below the second one nothing: schemas may be recursive. */
const GENEROUS_DEPTH = 4;
const DEEPEST = 24;
/** A schema that demands itself several times over would never end. */
const MAX_VALUES = 20_000;

interface Surroundings {
  root: JsonObject;
  /** Words of the prompt, from which strings are taken. */
  words: readonly string[];
  depth: number;
  /** Shared by the whole instance: how many values may still be made. */
  allowance: { left: number };
}

const FORMATS: ReadonlyMap<string, (seed: Seed) => string> = new Map(
  Object.entries<(seed: Seed) => string>({
    date: (seed) => `2026-0${1 + seed.number("month", 9)}-1${seed.number("day", 10)}`,
    "date-time": (seed) => `2026-0${1 + seed.number("month", 9)}-1${seed.number("day", 10)}T12:00:00Z`,
    time: (seed) => `1${seed.number("hour", 10)}:30:00Z`,
    duration: (seed) => `PT${1 + seed.number("minutes", 59)}M`,
    email: (seed) => `someone${seed.number("who", 100)}@example.org`,
    hostname: () => "www.example.org",
    uri: (seed) => `https://example.org/${seed.token("path", 6)}`,
    url: (seed) => `https://example.org/${seed.token("path", 6)}`,
    ipv4: (seed) => `192.0.2.${1 + seed.number("host", 254)}`,
    ipv6: (seed) => `2001:db8::${(1 + seed.number("host", 65_534)).toString(16)}`,
    uuid: (seed) => {
      const hex = seed.bytes("uuid").toString("hex");
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    },
  }),
);

function numberIn(schema: JsonObject, key: string): number | undefined {
  const value = schema[key];
  // Google writes 64-bit bounds as strings.
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** The schema's type in JSON Schema's spelling, guessed from its other members where it has none. */
function typeOf(schema: JsonObject): string {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).flatMap((type) =>
    typeof type === "string" ? [type.toLowerCase()] : [],
  );
  const stated = types.find((type) => type !== "null") ?? types[0];
  if (stated !== undefined) return stated;
  if (isObject(schema.properties)) return "object";
  if (schema.items !== undefined || schema.prefixItems !== undefined) return "array";
  return numberIn(schema, "minimum") === undefined && numberIn(schema, "maximum") === undefined ? "string" : "number";
}

function resolve(reference: string, root: JsonObject): Json | undefined {
  if (!reference.startsWith("#")) return undefined;
  let here: Json | undefined = root;
  for (const step of reference.slice(1).split("/").filter(Boolean)) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(here)) here = here[Number(key)];
    else if (isObject(here)) here = here[key];
    else return undefined;
  }
  return here;
}

/** The members of an `allOf` laid over each other, enough for schemas that split their properties. */
function combine(parts: readonly Json[], rest: JsonObject, root: JsonObject): JsonObject {
  let combined: JsonObject = { ...rest };
  for (const part of parts) {
    const reference = isObject(part) ? part.$ref : undefined;
    const member = typeof reference === "string" ? resolve(reference, root) : part;
    if (!isObject(member)) continue;
    const properties = { ...(combined.properties as JsonObject), ...(member.properties as JsonObject) };
    const required = [combined.required, member.required].flatMap((names) => (Array.isArray(names) ? names : []));
    combined = { ...combined, ...member };
    if (Object.keys(properties).length > 0) combined.properties = properties;
    if (required.length > 0) combined.required = required;
  }
  return combined;
}

function makeString(schema: JsonObject, seed: Seed, around: Surroundings): string {
  const format = typeof schema.format === "string" ? FORMATS.get(schema.format) : undefined;
  if (format !== undefined) return format(seed);
  if (typeof schema.pattern === "string") {
    const matching = patternInstance(schema.pattern, seed);
    if (matching !== undefined) return matching;
  }
  const word = around.words[seed.number("word", Math.max(1, around.words.length))] ?? "example";
  const shortest = Math.min(numberIn(schema, "minLength") ?? 0, 10_000);
  const characters = [...word];
  while (characters.length < shortest) characters.push(...word);
  return characters
    .slice(0, Math.max(shortest, Math.min(characters.length, numberIn(schema, "maxLength") ?? 64)))
    .join("");
}

function makeNumber(schema: JsonObject, seed: Seed, whole: boolean): number {
  const step = numberIn(schema, "multipleOf") ?? (whole ? 1 : 0.5);
  const above = numberIn(schema, "exclusiveMinimum");
  const below = numberIn(schema, "exclusiveMaximum");
  const lowest = numberIn(schema, "minimum") ?? (above === undefined ? undefined : above + step);
  const highest = numberIn(schema, "maximum") ?? (below === undefined ? undefined : below - step);
  const from = Math.ceil((lowest ?? Math.min(1, highest ?? 1)) / step);
  const to = Math.floor((highest ?? from * step + 100 * step) / step);
  // A range narrower than one step has no multiple in it; its lower end is the best answer.
  if (to < from) return lowest ?? highest ?? 0;
  const value = (from + seed.number("value", Math.min(to - from + 1, 1_000))) * step;
  return Number(value.toFixed(10));
}

function makeArray(schema: JsonObject, seed: Seed, around: Surroundings): Json[] {
  const fixed = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const fewest = numberIn(schema, "minItems") ?? (around.depth < GENEROUS_DEPTH ? 1 : 0);
  const wanted = Math.max(fewest, around.depth < GENEROUS_DEPTH ? 1 + seed.number("items", 2) : 0, fixed.length);
  const count = Math.min(wanted, numberIn(schema, "maxItems") ?? wanted, 1_000);
  const items: Json[] = [];
  const seen = new Set<string>();
  for (let attempt = 0; items.length < count && attempt < count * 8; attempt += 1) {
    const itemSchema = fixed[items.length] ?? schema.items ?? {};
    const item = make(itemSchema, seed.derive(`item ${attempt}`), { ...around, depth: around.depth + 1 });
    const key = JSON.stringify(item);
    if (schema.uniqueItems === true && seen.has(key)) continue;
    seen.add(key);
    items.push(item);
  }
  return items;
}

function makeObject(schema: JsonObject, seed: Seed, around: Surroundings): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const ordered = (Array.isArray(schema.propertyOrdering) ? schema.propertyOrdering : []).filter(
    (name): name is string => typeof name === "string" && name in properties,
  );
  const names = [...new Set([...ordered, ...Object.keys(properties)])];
  const inside = { ...around, depth: around.depth + 1 };
  const made: JsonObject = {};
  for (const name of names) {
    if (around.depth >= GENEROUS_DEPTH && !required.has(name)) continue;
    made[name] = make(properties[name] ?? {}, seed.derive(`property ${name}`), inside);
  }
  if (names.length === 0 && isObject(schema.additionalProperties)) {
    made.example = make(schema.additionalProperties, seed.derive("additional"), inside);
  }
  return made;
}

function makeOneOf(options: readonly Json[], seed: Seed, around: Surroundings): Json {
  const usable = options.filter((option) => !(isObject(option) && typeOf(option) === "null"));
  if (usable.length === 0) return null;
  // Deep down, the plainest option ends the recursion.
  const flat = usable.filter(
    (option) => isObject(option) && !["object", "array"].includes(typeOf(option)) && !option.$ref,
  );
  const choices = around.depth >= GENEROUS_DEPTH && flat.length > 0 ? flat : usable;
  if (around.depth >= GENEROUS_DEPTH && flat.length === 0 && usable.length < options.length) return null;
  return make(choices[seed.number("option", Math.max(1, choices.length))] ?? {}, seed, {
    ...around,
    depth: around.depth + 1,
  });
}

function make(schema: Json, seed: Seed, around: Surroundings): Json {
  around.allowance.left -= 1;
  const exhausted = around.depth > DEEPEST || around.allowance.left < 0;
  if (!isObject(schema) || exhausted) return schema === true ? "anything" : null;
  if (typeof schema.$ref === "string") {
    const target = resolve(schema.$ref, around.root);
    return make(target ?? {}, seed, { ...around, depth: around.depth + 1 });
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    const values = schema.enum.filter((value) => value !== null);
    return values[seed.number("enum", Math.max(1, values.length))] ?? null;
  }
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...rest } = schema;
    return make(combine(allOf, rest, around.root), seed, around);
  }
  const options = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (Array.isArray(options) && options.length > 0) return makeOneOf(options, seed, around);
  switch (typeOf(schema)) {
    case "object":
      return makeObject(schema, seed, around);
    case "array":
      return makeArray(schema, seed, around);
    case "integer":
      return makeNumber(schema, seed, true);
    case "number":
      return makeNumber(schema, seed, false);
    case "boolean":
      return seed.number("boolean", 2) === 1;
    case "null":
      return null;
    default:
      return makeString(schema, seed, around);
  }
}

/** A value that the schema accepts (JSON Schema, or Google's upper-case form of it). */
export function schemaInstance(schema: JsonObject, seed: Seed, words: readonly string[]): Json {
  return make(schema, seed, { root: schema, words, depth: 0, allowance: { left: MAX_VALUES } });
}
