import { isObject, type JsonObject, numberOf, objectAt } from "../../../base/json.ts";

/** Called with what the subset cannot express, and where in the schema. */
type ReportLoss = (loss: string) => void;

/** Inlining may expand a small schema without end. Anything beyond this is cut off and noted. */
const MAX_NODES = 5000;
const MAX_DEPTH = 100;
/** A schema with more keywords than this counts as several nodes. */
const DEFAULT_RULES = 100;
/** How many references the parts of one `allOf` may follow. */
const MAX_FOLLOWED = 1000;

const KEPT = ["title", "description", "default", "pattern", "minItems", "maxItems", "minLength", "maxLength"] as const;
const BOUNDS = ["minimum", "maximum", "minProperties", "maxProperties"] as const;
/** Keywords that the subset lacks. */
const UNKNOWN_RULES = [
  "multipleOf",
  "uniqueItems",
  "patternProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "contains",
  "minContains",
  "maxContains",
  "unevaluatedProperties",
  "unevaluatedItems",
  "additionalItems",
] as const;
const FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  ["string", ["date-time", "enum"]],
  ["integer", ["int32", "int64"]],
  ["number", ["float", "double"]],
]);

/** JSON Schema in the dialect's schema language, for hosts that accept no other (H08). Every loss is reported. */
export function lowerSchema(schema: JsonObject, report: ReportLoss): JsonObject {
  return new Lowering(schema, report).node(schema, "", []);
}

class Lowering {
  readonly #root: JsonObject;
  readonly #report: ReportLoss;
  #nodes = 0;
  #depth = 0;

  constructor(root: JsonObject, report: ReportLoss) {
    this.#root = root;
    this.#report = report;
  }

  /** `within`: the references that led here, to detect circles. */
  node(value: unknown, path: string, within: readonly string[]): JsonObject {
    if (!isObject(value)) {
      if (value === false) this.#lost("a schema that allows nothing", path);
      return {};
    }
    this.#nodes += 1 + Math.floor(Object.keys(value).length / DEFAULT_RULES);
    if (this.#full || this.#depth >= MAX_DEPTH) {
      this.#lost("parts beyond the size limit of a schema with inlined references", path);
      return {};
    }
    this.#depth++;
    const lowered = this.#lower(value, path, within);
    this.#depth--;
    return lowered;
  }

  get #full(): boolean {
    return this.#nodes > MAX_NODES;
  }

  #lower(value: JsonObject, path: string, within: readonly string[]): JsonObject {
    const reference = value["$ref"];
    if (typeof reference === "string") return this.#resolve(value, reference, path, within);
    if (Array.isArray(value["allOf"])) return this.#merge(value, path, within);
    return this.#plain(value, path, within);
  }

  #resolve(value: JsonObject, reference: string, path: string, within: readonly string[]): JsonObject {
    const { $ref: _reference, ...beside } = value;
    const target = this.#find(reference);
    if (target === undefined) {
      this.#lost(`a reference to ${reference}, which is not in the schema`, path);
      return this.node(beside, path, within);
    }
    if (!within.includes(reference)) return this.node({ ...target, ...beside }, path, [...within, reference]);
    this.#lost(`a circular reference to ${reference}, cut off`, path);
    const type = typesOf(target)[0];
    return type === undefined || type === "null" ? {} : { type: type.toUpperCase() };
  }

  #find(reference: string): JsonObject | undefined {
    if (!reference.startsWith("#")) return undefined;
    const steps = reference.slice(1).split("/").slice(1);
    const found = steps.reduce<unknown>((node, step) => {
      const key = pointerKey(step);
      return (isObject(node) || Array.isArray(node)) && Object.hasOwn(node, key)
        ? (node as JsonObject)[key]
        : undefined;
    }, this.#root);
    return isObject(found) ? found : undefined;
  }

  /** The subset has no `allOf`, so its parts are merged into one schema. */
  #merge(value: JsonObject, path: string, within: readonly string[]): JsonObject {
    const followed = new Set<string>();
    const parts = this.#partsOf(value, path, within, followed);
    const said = new Map<string, string>();
    for (const part of parts) {
      const rules = Object.entries(part).filter(([key]) => !JOINED.has(key));
      const texts = rules.map(([key, rule]) => [key, JSON.stringify(rule)] as const);
      const clash = texts.find(([key, text]) => said.has(key) && said.get(key) !== text);
      if (clash !== undefined) this.#lost(`an allOf whose parts differ in ${clash[0]}`, path);
      for (const [key, text] of texts) said.set(key, text);
    }
    return this.node(joined(parts), path, [...within, ...followed]);
  }

  /**
   * A schema with everything that it refers to and all parts of its `allOf`, each without these keywords; the schema itself is
   * last.
   */
  #partsOf(value: JsonObject, path: string, within: readonly string[], followed: Set<string>): JsonObject[] {
    const { $ref: reference, allOf, ...own } = value;
    const parts: JsonObject[] = [];
    if (typeof reference === "string" && !followed.has(reference)) {
      const leads = followed.size < MAX_FOLLOWED && !within.includes(reference);
      const target = leads ? this.#find(reference) : undefined;
      if (target === undefined) this.#lost(`a reference to ${reference}, which cannot be resolved further`, path);
      followed.add(reference);
      if (target !== undefined) parts.push(...this.#partsOf(target, path, within, followed));
    }
    for (const part of listOf(allOf).filter(isObject)) parts.push(...this.#partsOf(part, path, within, followed));
    return [...parts, own];
  }

  #plain(value: JsonObject, path: string, within: readonly string[]): JsonObject {
    const types = typesOf(value);
    const known = types.filter((type) => type !== "null");
    if (known.length > 1) return this.#choice(value, known, types.includes("null"), path, within);
    const choices = value["anyOf"] ?? value["oneOf"];
    if (Array.isArray(choices)) return this.#anyOf(value, choices, path, within);
    const type = known[0];
    const nullable = types.includes("null") || (Array.isArray(value["enum"]) && value["enum"].includes(null));
    for (const rule of UNKNOWN_RULES) if (rule in value) this.#lost(rule, path);
    return {
      ...(type === undefined ? (types.includes("null") ? { type: "NULL" } : {}) : { type: type.toUpperCase() }),
      ...(nullable && type !== undefined ? { nullable: true } : {}),
      ...this.#format(value, type, path),
      ...pick(value, KEPT),
      ...this.#words(value, type, path),
      ...this.#bounds(value, type, path),
      ...(type === "array" ? this.#items(value, path, within) : {}),
      ...(type === "object" ? this.#object(value, path, within) : {}),
    };
  }

  /** A list of types becomes a choice of schemas with one type each and the keywords that apply to it. */
  #choice(
    value: JsonObject,
    types: readonly string[],
    nullable: boolean,
    path: string,
    within: readonly string[],
  ): JsonObject {
    const words = value["enum"];
    const wordsByType = Array.isArray(words) ? Map.groupBy(words, typeOfValue) : undefined;
    const anyOf = [...new Set(types)].map((type) => {
      const own = wordsByType === undefined ? {} : { enum: wordsByType.get(type) ?? [] };
      return this.node(this.#full ? {} : { ...value, type, ...own }, path, within);
    });
    return { ...(nullable ? { nullable: true } : {}), anyOf };
  }

  /** Hosts reject most keywords next to a choice, so they are moved into each branch. */
  #anyOf(value: JsonObject, choices: readonly unknown[], path: string, within: readonly string[]): JsonObject {
    const { anyOf: _any, oneOf: _one, title: _title, $defs: _defs, definitions: _definitions, ...shared } = value;
    if (value["oneOf"] !== undefined) this.#lost("oneOf, read as anyOf", path);
    if (value["anyOf"] !== undefined && value["oneOf"] !== undefined) this.#lost("oneOf together with anyOf", path);
    const isNull = (choice: unknown) => isObject(choice) && (choice["type"] === "null" || choice["const"] === null);
    const branches = choices.filter((choice) => !isNull(choice));
    const nullable = branches.length < choices.length ? { nullable: true } : {};
    const lowered = branches.map((branch, index) => {
      const merged = isObject(branch) && !this.#full ? joined([shared, branch]) : branch;
      return this.node(merged, step(path, `anyOf[${index}]`), within);
    });
    const [only, ...others] = lowered;
    return others.length === 0 ? { ...only, ...nullable } : { ...nullable, anyOf: lowered };
  }

  #format(value: JsonObject, type: string | undefined, path: string): JsonObject {
    const { format } = value;
    if (typeof format !== "string") return {};
    if (type !== undefined && FORMATS.get(type)?.includes(format)) return { format };
    this.#lost(`the format ${format}`, path);
    return {};
  }

  /** Enum values can only be strings. A constant is an enum of one value. */
  #words(value: JsonObject, type: string | undefined, path: string): JsonObject {
    const words = Array.isArray(value["enum"]) ? value["enum"] : "const" in value ? [value["const"]] : undefined;
    if (words === undefined) return {};
    const strings = words.filter((word) => word !== null);
    if (type === "string" && strings.every((word) => typeof word === "string")) return { enum: strings };
    if (strings.length > 0) this.#lost("enum values that are not all strings", path);
    return {};
  }

  #bounds(value: JsonObject, type: string | undefined, path: string): JsonObject {
    const bounds: Record<string, unknown> = { ...pick(value, BOUNDS) };
    const tighten = (name: "minimum" | "maximum", exclusive: unknown, inward: number) => {
      const limit = exclusive === true ? bounds[name] : exclusive;
      const bound = numberOf(limit);
      if (bound === undefined) return;
      // Beyond this, the next integer is not a double.
      const whole = type === "integer" && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
      if (!whole) this.#lost(`the exclusion of the ${name} itself`, path);
      const tight = whole ? (inward > 0 ? Math.floor(bound) + 1 : Math.ceil(bound) - 1) : bound;
      const other = exclusive === true ? undefined : numberOf(bounds[name]);
      if (other === undefined || (other - tight) * inward <= 0) bounds[name] = whole ? tight : limit;
    };
    tighten("minimum", value["exclusiveMinimum"], 1);
    tighten("maximum", value["exclusiveMaximum"], -1);
    return bounds;
  }

  /** An array must declare its items. */
  #items(value: JsonObject, path: string, within: readonly string[]): JsonObject {
    const tuple = value["prefixItems"] ?? (Array.isArray(value["items"]) ? value["items"] : undefined);
    if (Array.isArray(tuple)) {
      this.#lost("a tuple, read as an array of any of its item types", path);
      const items = { anyOf: tuple };
      return { items: this.node(items, step(path, "items"), within) };
    }
    return { items: this.node(value["items"] ?? {}, step(path, "items"), within) };
  }

  /** Objects are closed here by default, so only open ones lose something. */
  #object(value: JsonObject, path: string, within: readonly string[]): JsonObject {
    const open = value["additionalProperties"];
    const properties = Object.entries(isObject(value["properties"]) ? value["properties"] : {});
    if (isObject(open) || (open === true && properties.length === 0)) this.#lost("additionalProperties", path);
    const names = properties.map(([name]) => name);
    const known = new Set<unknown>(names);
    const required = listOf(value["required"]).filter((name) => known.has(name));
    if (names.length === 0) return {};
    return {
      properties: Object.fromEntries(
        properties.map(([name, one]) => [name, this.node(one, step(path, `properties.${name}`), within)]),
      ),
      ...(required.length > 0 ? { required } : {}),
      ...(names.length > 1 ? { propertyOrdering: names } : {}),
    };
  }

  #lost(what: string, path: string): void {
    this.#report(path === "" ? what : `${what} (at ${path})`);
  }
}

/** Keywords in which parts of an `allOf` may differ: they are combined, or are only descriptions. */
const JOINED: ReadonlySet<string> = new Set(["properties", "required", "$defs", "definitions", "title", "description"]);

/** One step of a JSON pointer in a URL, with two nested kinds of escaping. */
const pointerKey = (escaped: string): string =>
  escaped
    .replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");

const step = (path: string, next: string): string => (path === "" ? next : `${path}.${next}`);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function pick(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => key in value).map((key) => [key, value[key]]));
}

/** Combines schemas: later keywords take precedence, but properties and required are merged. */
function joined(schemas: readonly JsonObject[]): JsonObject {
  const rules = new Map<string, unknown>();
  const properties = new Map<string, unknown>();
  const required = new Set<unknown>();
  for (const schema of schemas) {
    for (const [key, rule] of Object.entries(schema)) rules.set(key, rule);
    for (const [name, one] of Object.entries(objectAt(schema, "properties") ?? {})) properties.set(name, one);
    for (const name of listOf(schema["required"])) required.add(name);
  }
  if (properties.size > 0) rules.set("properties", Object.fromEntries(properties));
  if (required.size > 0) rules.set("required", [...required]);
  return Object.fromEntries(rules);
}

/** The types that a schema names or that its other keywords imply. */
function typesOf(value: JsonObject): string[] {
  const { type } = value;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  if ("properties" in value || "additionalProperties" in value || "required" in value) return ["object"];
  if ("items" in value || "prefixItems" in value) return ["array"];
  const words = Array.isArray(value["enum"]) ? value["enum"] : "const" in value ? [value["const"]] : [];
  return [...new Set(words.map(typeOfValue))];
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const number = numberOf(value);
  if (number !== undefined) return Number.isInteger(number) ? "integer" : "number";
  return typeof value;
}
