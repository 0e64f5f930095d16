import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { EXPECTED, stringLike } from "../../reading/schema-builders.ts";

/** Counts are 64-bit on this wire, so they may be written as strings. */
const count = Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), stringLike("^[0-9]+$", "digits")]));
const strings = Type.Optional(Type.Array(Type.String()));
const self = Type.Ref("GenaiSchema");

const TYPES = ["STRING", "INTEGER", "NUMBER", "BOOLEAN", "ARRAY", "OBJECT"] as const;

/**
 * The schema language of structured output and tool parameters: a subset of OpenAPI's. `type` is checked where the contract
 * requires it (rules.ts), because a node that is only a choice has none.
 */
export const GenaiSchema = Type.Cyclic(
  {
    GenaiSchema: Type.Object({
      type: Type.Optional(
        Type.Enum(
          [...TYPES, "NULL", "TYPE_UNSPECIFIED", "string", "integer", "number", "boolean", "array", "object", "null"],
          { [EXPECTED]: `one of ${TYPES.map((type) => `"${type}"`).join(", ")}` },
        ),
      ),
      format: Type.Optional(Type.String()),
      title: Type.Optional(Type.String()),
      description: Type.Optional(Type.String()),
      nullable: Type.Optional(Type.Boolean()),
      enum: strings,
      items: Type.Optional(self),
      properties: Type.Optional(Type.Record(Type.String(), self)),
      required: strings,
      propertyOrdering: strings,
      anyOf: Type.Optional(Type.Array(self)),
      oneOf: Type.Optional(Type.Array(self, { description: "Read as anyOf." })),
      minimum: Type.Optional(Type.Number()),
      maximum: Type.Optional(Type.Number()),
      minItems: count,
      maxItems: count,
      minLength: count,
      maxLength: count,
      pattern: Type.Optional(Type.String()),
    }),
  },
  "GenaiSchema",
);
export type GenaiSchema = Static<typeof GenaiSchema>;
