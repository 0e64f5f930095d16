import { Type } from "../../../base/type.ts";
import { anyOtherKind, openObject } from "../../reading/schema-builders.ts";

const FunctionTool = Type.Object(
  {
    type: Type.Literal("function"),
    name: Type.String({ minLength: 1 }),
    description: Type.Optional(Type.String()),
    parameters: Type.Optional(openObject("JSON Schema of the arguments.")),
  },
  { title: "InteractionsFunctionTool" },
);

const SearchTool = Type.Object(
  { type: Type.Literal("google_search"), search_types: Type.Optional(Type.Array(Type.String())) },
  { title: "InteractionsSearchTool" },
);

/** Any other tool is sent unchanged to providers of this protocol, and to no other. */
export const Tool = Type.Union([FunctionTool, SearchTool, anyOtherKind(["function", "google_search"])]);

const word = Type.Enum(["auto", "any", "none", "validated"]);

export const ToolChoice = Type.Union([
  word,
  Type.Object({
    allowed_tools: Type.Optional(
      Type.Object({ mode: Type.Optional(word), tools: Type.Optional(Type.Array(Type.String())) }),
    ),
  }),
]);
