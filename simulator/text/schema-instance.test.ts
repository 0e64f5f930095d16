import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Compile } from "typebox/compile";
import type { JsonObject } from "../json.ts";
import { Seed } from "../seed.ts";
import { patternInstance } from "./pattern-instance.ts";
import { schemaInstance } from "./schema-instance.ts";

const scalar: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom<JsonObject>({ type: "boolean" }, { type: "null" }, { enum: ["a", 2, true] }, { const: 5 }),
  fc
    .tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 30 }))
    .map(([minimum, more]) => ({ type: "integer", minimum, maximum: minimum + more })),
  fc.integer({ min: 1, max: 9 }).map((multipleOf) => ({ type: "number", multipleOf, exclusiveMinimum: 3 })),
  fc
    .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }))
    .map(([minLength, more]) => ({ type: "string", minLength, maxLength: minLength + more })),
  fc.constantFrom<JsonObject>({ type: ["string", "null"] }, { type: "string", pattern: "^[A-Z]{3}-\\d{4}$" }),
);

const schema: fc.Arbitrary<JsonObject> = fc.letrec<{ any: JsonObject }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc
      .tuple(tie("any"), fc.integer({ min: 0, max: 3 }))
      .map(([items, minItems]) => ({ type: "array", items, minItems })),
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.tuple(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie("any"), { maxKeys: 4 }), fc.boolean()).map(
      ([properties, strict]): JsonObject => ({
        type: "object",
        properties,
        required: Object.keys(properties),
        ...(strict ? { additionalProperties: false } : {}),
      }),
    ),
  ),
})).any;

describe("contract 2.12: instances of schemas", () => {
  test("every instance is one that an independent validator accepts", () => {
    fc.assert(
      fc.property(schema, fc.string(), (generated, material) => {
        const value = schemaInstance(generated, new Seed(material), ["Paris", "Rome"]);
        expect(Compile(generated as never).Check(value)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test("the same seed gives the same instance, and strings take words of the prompt", () => {
    const city = { type: "object", properties: { city: { type: "string" } } };
    const first = schemaInstance(city, new Seed("x"), ["Paris"]);
    expect(first).toEqual({ city: "Paris" });
    expect(schemaInstance(city, new Seed("x"), ["Paris"])).toEqual(first);
  });

  test("H08: references, recursion, allOf, uniqueItems and formats", () => {
    const tree: JsonObject = {
      $defs: {
        node: {
          type: "object",
          properties: {
            id: { type: "string", format: "uuid" },
            children: { type: "array", items: { $ref: "#/$defs/node" } },
          },
          required: ["id", "children"],
        },
      },
      $ref: "#/$defs/node",
    };
    const value = schemaInstance(tree, new Seed("tree"), []);
    expect(Compile(tree as never).Check(value)).toBe(true);
    expect(JSON.stringify(value).length).toBeLessThan(10_000);
    const joined = {
      allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } }, required: ["b"] }],
    };
    expect(schemaInstance(joined, new Seed("all"), [])).toEqual({ a: 1, b: 2 });
    const set = schemaInstance(
      { type: "array", items: { enum: [1, 2, 3] }, uniqueItems: true, minItems: 3 },
      new Seed("s"),
      [],
    );
    expect(new Set(set as number[])).toEqual(new Set([1, 2, 3]));
    const when = schemaInstance({ type: "string", format: "date-time" }, new Seed("w"), []);
    expect(Number.isNaN(Date.parse(String(when)))).toBe(false);
    expect(
      schemaInstance({ type: "OBJECT", properties: { n: { type: "INTEGER" } } }, new Seed("g"), []),
    ).toHaveProperty("n");
  });

  test("H20: a schema that demands itself without end is given up in time", () => {
    const names = ["a", "b", "c", "d"];
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#" }]));
    const endless: JsonObject = { type: "object", properties, required: names };
    expect(JSON.stringify(schemaInstance(endless, new Seed("endless"), [])).length).toBeLessThan(1_000_000);
  });

  test("patterns: plain ones are matched, others are left alone", () => {
    for (const pattern of ["^[A-Z]{2}\\d{3}$", "(cat|dog)s?", "^[^a-z]+$", "^\\w+@\\w+\\.org$", "a{0}b"]) {
      expect(patternInstance(pattern, new Seed(pattern))).toMatch(new RegExp(pattern));
    }
    expect(patternInstance("^(?=.*\\d).{8}$", new Seed("look"))).toBeUndefined();
    expect(patternInstance("(", new Seed("broken"))).toBeUndefined();
  });
});
