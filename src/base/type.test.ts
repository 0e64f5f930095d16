import { describe, expect, test } from "bun:test";
import TypeBox from "typebox";
import { Type } from "./type.ts";

type Builders = typeof Type;

/** Each as the schemas of this program use it; made once with our functions and once with those whose types they have. */
const SCHEMAS: Readonly<Record<keyof Builders, (make: Builders) => unknown>> = {
  Array: (make) => make.Array(make.String(), { minItems: 1 }),
  Boolean: (make) => make.Boolean({ default: false }),
  Cyclic: (make) => make.Cyclic({ Tree: make.Object({ leaves: make.Optional(make.Array(make.Ref("Tree"))) }) }, "Tree"),
  Enum: (make) => make.Enum(["low", "high"], { description: "How much." }),
  Integer: (make) => make.Integer({ minimum: 0 }),
  Literal: (make) => make.Union([make.Literal("a"), make.Literal(1), make.Literal(true, { title: "yes" })]),
  Null: (make) => make.Null(),
  Number: (make) => make.Number({ maximum: 2 }),
  Object: (make) =>
    make.Object({ a: make.String(), b: make.Optional(make.Object({})) }, { additionalProperties: false }),
  Optional: (make) =>
    make.Object({ a: make.Optional(make.Optional(make.String({ title: "A" }))), b: make.Optional(make.Null()) }),
  Partial: (make) => make.Partial(make.Record(make.Enum(["a", "b"]), make.Number()), { additionalProperties: false }),
  Record: (make) => [
    make.Record(make.String(), make.Unknown(), { maxProperties: 16 }),
    make.Record(make.String({ pattern: "^[a-z]+$" }), make.Null()),
    make.Record(make.String({ maxLength: 64 }), make.Null()),
    make.Record(make.Enum(["a", "b"]), make.Null()),
  ],
  Ref: (make) => make.Ref("Tree"),
  String: (make) => make.String({ pattern: "^a", "x-expected": "an a" }),
  Union: (make) => make.Union([make.String(), make.Null()], { description: "Or null." }),
  Unknown: (make) => make.Unknown({ description: "Anything." }),
  Unsafe: (make) => make.Unsafe<string>({ type: "string", not: { enum: ["a"] } }),
};

describe("schemas made by our own functions (decision 0071)", () => {
  test.each(Object.entries(SCHEMAS))("%s: as the package makes it, in the same order of keys", (_name, schema) => {
    expect(JSON.stringify(schema(Type))).toBe(JSON.stringify(schema(TypeBox)));
  });

  test("the marker of optional properties is invisible to readers of the schema", () => {
    const schema = Type.Optional(Type.String());
    expect(Object.keys(schema)).toEqual(["type"]);
    expect({ ...schema }).not.toHaveProperty("~optional");
  });
});
