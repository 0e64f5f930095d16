import type TypeBox from "typebox";

type Schema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, Schema>>;

/** Marks a schema as optional. Not enumerable, because it is not a keyword of the schema. */
const OPTIONAL = "~optional";

const optional = (schema: Schema): Schema => Object.defineProperty({ ...schema }, OPTIONAL, { value: true });

const every = (names: readonly string[], value: Schema): Properties =>
  Object.fromEntries(names.map((name) => [name, value]));

function object(properties: Properties, options?: Schema): Schema {
  const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name] ?? {}, OPTIONAL));
  return { type: "object", ...(required.length > 0 ? { required } : {}), properties, ...options };
}

/** By the names that an enumeration lists, or by the pattern of a string. */
function record(key: Schema, value: Schema, options?: Schema): Schema {
  if (Array.isArray(key.enum)) return object(every(key.enum as string[], value), options);
  return {
    type: "object",
    patternProperties: { [typeof key.pattern === "string" ? key.pattern : "^.*$"]: value },
    ...options,
  };
}

function partial({ properties }: Schema, options?: Schema): Schema {
  const own = Object.entries(properties as Properties).map(([name, schema]) => [name, optional(schema)]);
  return object(Object.fromEntries(own), options);
}

/** Schemas that refer to each other or themselves by name, and the name of the main one. */
function cyclic(schemas: Properties, name: string, options?: Schema): Schema {
  const named = Object.entries(schemas).map(([$id, schema]) => [$id, { ...schema, $id }]);
  return { $defs: Object.fromEntries(named), $ref: name, ...options };
}

const builders = {
  Array: (items: Schema, options?: Schema): Schema => ({ type: "array", items, ...options }),
  Boolean: (options?: Schema): Schema => ({ type: "boolean", ...options }),
  Cyclic: cyclic,
  Enum: (values: readonly string[], options?: Schema): Schema => ({ enum: values, ...options }),
  Integer: (options?: Schema): Schema => ({ type: "integer", ...options }),
  Literal: (value: unknown, options?: Schema): Schema => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Schema): Schema => ({ type: "null", ...options }),
  Number: (options?: Schema): Schema => ({ type: "number", ...options }),
  Object: object,
  Optional: optional,
  Partial: partial,
  Record: record,
  Ref: (name: string, options?: Schema): Schema => ({ $ref: name, ...options }),
  String: (options?: Schema): Schema => ({ type: "string", ...options }),
  Union: (schemas: readonly Schema[], options?: Schema): Schema => ({ anyOf: schemas, ...options }),
  Unknown: (options?: Schema): Schema => ({ ...options }),
  Unsafe: (schema: Schema): Schema => ({ ...schema }),
};

/**
 * TypeBox's `Type` with its static types, but with our own functions: a schema is a plain object, and TypeBox's functions load
 * 450 modules and 12 MB (docs/decisions/0071).
 */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
