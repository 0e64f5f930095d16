import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkSchema } from "../../../../simulator/hosts/google/text/check-schema.ts";
import type { Json } from "../../../../simulator/json.ts";
import type { JsonObject } from "../../../base/json.ts";
import { toJsonSchema } from "./json-schema.ts";
import { lowerSchema } from "./lower-schema.ts";

function lower(schema: JsonObject): { schema: JsonObject; losses: string[] } {
  const losses: string[] = [];
  return { schema: lowerSchema(schema, (loss) => losses.push(loss)), losses };
}

describe("H08: JSON Schema in the provider's schema language", () => {
  test.each([
    ["const", { const: "a" }, { type: "STRING", enum: ["a"] }],
    ["a type and null", { type: ["string", "null"] }, { type: "STRING", nullable: true }],
    ["an enum with null", { enum: ["a", null] }, { type: "STRING", nullable: true, enum: ["a"] }],
    ["several types", { type: ["string", "integer"] }, { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] }],
    [
      "a choice with null",
      { anyOf: [{ type: "string" }, { type: "null" }], description: "d" },
      { type: "STRING", description: "d", nullable: true },
    ],
    [
      "integer bounds",
      { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 9, minimum: 0 },
      { type: "INTEGER", minimum: 2, maximum: 8 },
    ],
    ["draft 4 bounds", { type: "integer", minimum: 3, exclusiveMinimum: true }, { type: "INTEGER", minimum: 4 }],
    [
      "a closed object",
      { type: "object", properties: { a: {} }, required: ["a", "b"], additionalProperties: false },
      { type: "OBJECT", properties: { a: {} }, required: ["a"] },
    ],
    [
      "order",
      { properties: { b: {}, a: {} } },
      { type: "OBJECT", properties: { b: {}, a: {} }, propertyOrdering: ["b", "a"] },
    ],
    ["a list of anything", { type: "array" }, { type: "ARRAY", items: {} }],
    [
      "annotations",
      { $schema: "s", $id: "i", $comment: "c", type: "string", examples: ["e"], deprecated: true },
      { type: "STRING" },
    ],
    [
      "references",
      {
        type: "object",
        properties: { a: { $ref: "#/$defs/a~1b", description: "mine" }, c: { $ref: "#/definitions/c" } },
        $defs: { "a/b": { type: "string", description: "its" } },
        definitions: { c: { type: "boolean" } },
      },
      {
        type: "OBJECT",
        properties: { a: { type: "STRING", description: "mine" }, c: { type: "BOOLEAN" } },
        propertyOrdering: ["a", "c"],
      },
    ],
    [
      "allOf",
      {
        allOf: [{ $ref: "#/$defs/a" }, { properties: { b: { type: "string" } }, required: ["b"] }],
        $defs: { a: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } },
      },
      {
        type: "OBJECT",
        properties: { a: { type: "STRING" }, b: { type: "STRING" } },
        required: ["a", "b"],
        propertyOrdering: ["a", "b"],
      },
    ],
    [
      "keywords next to a choice",
      {
        type: "object",
        properties: { a: { type: "string" } },
        anyOf: [{ required: ["a"] }, { properties: { b: { type: "string" } } }],
      },
      {
        anyOf: [
          { type: "OBJECT", properties: { a: { type: "STRING" } }, required: ["a"] },
          {
            type: "OBJECT",
            properties: { a: { type: "STRING" }, b: { type: "STRING" } },
            propertyOrdering: ["a", "b"],
          },
        ],
      },
    ],
  ])("%s: nothing is lost", (_name, schema, expected) => {
    expect(lower(schema as JsonObject)).toEqual({ schema: expected as JsonObject, losses: [] });
  });

  test.each([
    [
      "oneOf",
      { oneOf: [{ type: "string" }, { type: "integer" }] },
      { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] },
    ],
    ["fractions", { type: "number", exclusiveMinimum: 0 }, { type: "NUMBER", minimum: 0 }],
    ["an enum of numbers", { enum: [1, 2] }, { type: "INTEGER" }],
    ["a constant number", { const: 1.5 }, { type: "NUMBER" }],
    ["a format", { type: "string", format: "uri" }, { type: "STRING" }],
    ["a map", { type: "object", additionalProperties: { type: "string" } }, { type: "OBJECT" }],
    ["a tuple", { prefixItems: [{ type: "string" }] }, { type: "ARRAY", items: { type: "STRING" } }],
    ["multipleOf", { type: "integer", multipleOf: 2 }, { type: "INTEGER" }],
    ["a reference without a target", { $ref: "#/$defs/gone%" }, {}],
    ["an external reference", { $ref: "https://example.com/s" }, {}],
    ["a clash", { allOf: [{ type: "string" }, { type: "integer" }] }, { type: "INTEGER" }],
    ["nothing", { type: "array", items: false }, { type: "ARRAY", items: {} }],
  ])("%s: lost and noted", (_name, schema, expected) => {
    const lowered = lower(schema as JsonObject);
    expect(lowered.schema).toEqual(expected as JsonObject);
    expect(lowered.losses.length).toBeGreaterThan(0);
  });

  test("circular references are cut off where they close, with their path", () => {
    const tree = {
      type: "object",
      properties: { value: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/tree" } } },
    };
    const { schema, losses } = lower({ $ref: "#/$defs/tree", $defs: { tree } });
    expect(schema).toMatchObject({ properties: { children: { items: { type: "OBJECT" } } } });
    expect(JSON.stringify(schema)).not.toContain("$ref");
    expect(losses).toEqual([expect.stringContaining("properties.children.items")]);
  });

  test("references that double at each step, and an allOf of itself, end quickly", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        { type: "object", properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } } },
      ]),
    );
    const { schema, losses } = lower({ $ref: "#/$defs/d0", $defs });
    expect(JSON.stringify(schema).length).toBeLessThan(1_000_000);
    expect(losses.length).toBeGreaterThan(0);
    expect(
      lower({ $ref: "#/$defs/a", $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } } }).losses.length,
    ).toBeGreaterThan(0);
  });

  const { schema: anySchema } = fc.letrec((tie) => ({
    // Without a limit most schemas would never end.
    inner: fc.oneof({ maxDepth: 2, depthIdentifier: "schema" }, fc.constant({ type: "string" }), tie("schema")),
    schema: fc.oneof({ maxDepth: 3, depthIdentifier: "schema" }, fc.constant({ type: "string" }), tie("node")),
    node: fc.record(
      {
        type: fc.oneof(
          fc.constantFrom("string", "integer", "number", "boolean", "array", "object", "null"),
          fc.constant(["string", "null"]),
          fc.constant(["integer", "object"]),
        ),
        description: fc.string(),
        format: fc.constantFrom("uri", "date-time", "int32"),
        enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1 }),
        const: fc.oneof(fc.string(), fc.integer(), fc.boolean()),
        minimum: fc.integer(),
        exclusiveMaximum: fc.integer(),
        items: tie("inner"),
        properties: fc.dictionary(fc.string(), tie("inner"), { maxKeys: 3 }),
        required: fc.array(fc.string()),
        additionalProperties: fc.oneof(fc.boolean(), tie("inner")),
        anyOf: fc.array(tie("inner"), { maxLength: 3 }),
        oneOf: fc.array(tie("inner"), { maxLength: 3 }),
        allOf: fc.array(tie("inner"), { maxLength: 2 }),
        $ref: fc.constantFrom("#", "#/$defs/a", "#/properties/x"),
        not: tie("inner"),
      },
      { requiredKeys: [] },
    ),
  }));

  test("both simulated hosts accept the result for any schema", () => {
    fc.assert(
      fc.property(anySchema, anySchema, (schema, defined) => {
        const root = { ...(schema as JsonObject), $defs: { a: defined } };
        const before = JSON.stringify(root);
        const lowered = JSON.parse(JSON.stringify(lower(root).schema)) as Json;
        checkSchema(lowered, "s", "gemini");
        checkSchema(lowered, "s", "vertex");
        expect(JSON.stringify(root)).toBe(before);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the provider's schema language as JSON Schema", () => {
  test("converts types, nullable, order, counts and references", () => {
    expect(
      toJsonSchema({
        type: "OBJECT",
        nullable: true,
        properties: {
          a: { type: "INTEGER", enum: ["1", "2"], nullable: true },
          b: { type: "ARRAY", items: { type: "STRING", minLength: "3" }, maxItems: "2" },
          c: { nullable: true, anyOf: [{ type: "STRING" }, { ref: "#/defs/d" }] },
          d: { type: "TYPE_UNSPECIFIED", example: 1 },
        },
        propertyOrdering: ["c", "nobody", "a"],
        defs: { d: { type: "NULL" } },
      }),
    ).toEqual({
      type: ["object", "null"],
      properties: {
        a: { type: ["integer", "null"], enum: [1, 2, null] },
        b: { type: "array", items: { type: "string", minLength: 3 }, maxItems: 2 },
        c: { anyOf: [{ type: "string" }, { $ref: "#/$defs/d" }, { type: "null" }] },
        d: { examples: [1] },
      },
      $defs: { d: { type: "null" } },
    });
  });

  test("properties are in the requested order", () => {
    const { properties } = toJsonSchema({
      type: "OBJECT",
      properties: { a: {}, b: {}, c: {} },
      propertyOrdering: ["c", "a"],
    });
    expect(Object.keys(properties as object)).toEqual(["c", "a", "b"]);
  });
});
