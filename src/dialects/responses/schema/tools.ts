import { Type } from "../../../base/type.ts";
import { anyOtherKind, nullable, openObject } from "../../reading/schema-builders.ts";

const name = Type.String({ minLength: 1 });
const description = Type.Optional(nullable(Type.String()));

const FunctionTool = Type.Object(
  {
    type: Type.Literal("function"),
    name,
    description,
    parameters: Type.Optional(nullable(openObject("JSON Schema of the arguments."))),
    strict: Type.Optional(nullable(Type.Boolean())),
  },
  { title: "ResponsesFunctionTool" },
);

const CustomToolFormat = Type.Union([
  Type.Object({ type: Type.Literal("text") }),
  Type.Object({
    type: Type.Literal("grammar"),
    syntax: Type.Enum(["lark", "regex"]),
    definition: Type.String(),
  }),
]);

const CustomTool = Type.Object(
  {
    type: Type.Literal("custom"),
    name,
    description,
    format: Type.Optional(nullable(CustomToolFormat)),
  },
  { title: "ResponsesCustomTool" },
);

const NamespaceTool = Type.Object(
  {
    type: Type.Literal("namespace"),
    name,
    description,
    tools: Type.Array(Type.Union([FunctionTool, CustomTool, anyOtherKind(["function", "custom"])])),
  },
  { title: "ResponsesNamespaceTool" },
);

const WEB_SEARCH_TYPES = ["web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11"];

const domains = Type.Optional(nullable(Type.Array(Type.String())));
const place = Type.Optional(nullable(Type.String()));

const WebSearchTool = Type.Object(
  {
    type: Type.Enum(WEB_SEARCH_TYPES),
    filters: Type.Optional(nullable(Type.Object({ allowed_domains: domains, blocked_domains: domains }))),
    user_location: Type.Optional(
      nullable(Type.Object({ city: place, region: place, country: place, timezone: place })),
    ),
    search_context_size: Type.Optional(nullable(Type.Enum(["low", "medium", "high"]))),
  },
  { title: "ResponsesWebSearchTool" },
);

/** Any other tool is sent unchanged to providers of this protocol, and to no other (R5). */
export const ResponsesTool = Type.Union([
  FunctionTool,
  CustomTool,
  NamespaceTool,
  WebSearchTool,
  anyOtherKind(["function", "custom", "namespace", ...WEB_SEARCH_TYPES]),
]);

export const ResponsesToolChoice = Type.Union([
  Type.Enum(["none", "auto", "required"]),
  Type.Object({ type: Type.Enum(["function", "custom"]), name }),
  Type.Object({
    type: Type.Literal("allowed_tools"),
    mode: Type.Enum(["auto", "required"]),
    tools: Type.Array(openObject()),
  }),
  anyOtherKind(["function", "custom", "allowed_tools"]),
]);
