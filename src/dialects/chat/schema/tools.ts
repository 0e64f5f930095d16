import { Type } from "../../../base/type.ts";
import { nullable, openObject, unlistedKind } from "../../reading/schema-builders.ts";

const named = Type.Object({ name: Type.String({ minLength: 1 }) });

const FunctionTool = Type.Object(
  {
    type: Type.Literal("function"),
    function: Type.Object({
      name: Type.String({ minLength: 1 }),
      description: Type.Optional(Type.String()),
      parameters: Type.Optional(openObject("JSON Schema of the arguments.")),
      strict: Type.Optional(nullable(Type.Boolean())),
    }),
  },
  { title: "ChatFunctionTool" },
);

const CustomToolFormat = Type.Union([
  Type.Object({ type: Type.Literal("text") }),
  Type.Object({
    type: Type.Literal("grammar"),
    grammar: Type.Object({ syntax: Type.Enum(["lark", "regex"]), definition: Type.String() }),
  }),
]);

const CustomTool = Type.Object(
  {
    type: Type.Literal("custom"),
    custom: Type.Object({
      name: Type.String({ minLength: 1 }),
      description: Type.Optional(Type.String()),
      format: Type.Optional(CustomToolFormat),
    }),
  },
  { title: "ChatCustomTool" },
);

export const ChatTool = Type.Union([FunctionTool, CustomTool, unlistedKind(["function", "custom"])]);

export const ChatToolChoice = Type.Union([
  Type.Enum(["none", "auto", "required"]),
  Type.Object({ type: Type.Literal("function"), function: named }),
  Type.Object({ type: Type.Literal("custom"), custom: named }),
  Type.Object({
    type: Type.Literal("allowed_tools"),
    allowed_tools: Type.Object({ mode: Type.Enum(["auto", "required"]), tools: Type.Array(openObject()) }),
  }),
]);
