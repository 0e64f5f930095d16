import { Type } from "../../../base/type.ts";
import { nullable, openObject, stringLike, type UnlistedName, unlisted } from "../../reading/schema-builders.ts";
import { CacheControl } from "./content.ts";

const cache_control = Type.Optional(CacheControl);
const nullableText = Type.Optional(nullable(Type.String()));
const domains = Type.Optional(nullable(Type.Array(Type.String())));

const CustomTool = Type.Object(
  {
    type: Type.Optional(nullable(Type.Literal("custom"))),
    name: Type.String({ minLength: 1, maxLength: 128 }),
    description: Type.Optional(Type.String()),
    input_schema: Type.Object({
      type: Type.Literal("object"),
      properties: Type.Optional(nullable(openObject())),
      required: Type.Optional(nullable(Type.Array(Type.String()))),
    }),
    cache_control,
  },
  { title: "CustomTool" },
);

const BashTool = Type.Object(
  { type: Type.Literal("bash_20250124"), name: Type.Literal("bash"), cache_control },
  { title: "BashTool" },
);

const TextEditorTool = Type.Object(
  {
    type: stringLike<`text_editor_${number}`>("^text_editor_[0-9]{8}$", '"text_editor_<date>"'),
    name: Type.Enum(["str_replace_editor", "str_replace_based_edit_tool"]),
    max_characters: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
    cache_control,
  },
  { title: "TextEditorTool" },
);

const WebSearchTool = Type.Object(
  {
    type: stringLike<`web_search_${number}`>("^web_search_[0-9]{8}$", '"web_search_<date>"'),
    name: Type.Literal("web_search"),
    allowed_domains: domains,
    blocked_domains: domains,
    max_uses: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
    user_location: Type.Optional(
      nullable(
        Type.Object({
          type: Type.Literal("approximate"),
          city: nullableText,
          country: Type.Optional(
            nullable(stringLike("^[A-Za-z]{2}$", "a country code of two letters (ISO 3166-1 alpha-2)")),
          ),
          region: nullableText,
          timezone: nullableText,
        }),
      ),
    ),
    cache_control,
  },
  { title: "WebSearchTool" },
);

/** The drop-in door forwards built-in tools that the contract does not list, and the upstream validates them. */
const UnlistedTool = Type.Object(
  {
    type: Type.Unsafe<UnlistedName>({
      type: "string",
      not: { type: "string", pattern: "^(custom|bash_20250124|(text_editor|web_search)_[0-9]{8})$" },
    }),
  },
  unlisted,
);

export const Tool = Type.Union([CustomTool, BashTool, TextEditorTool, WebSearchTool, UnlistedTool], {
  title: "MessagesTool",
});

const disable_parallel_tool_use = Type.Optional(Type.Boolean());

export const ToolChoice = Type.Union(
  [
    Type.Object({ type: Type.Literal("auto"), disable_parallel_tool_use }),
    Type.Object({ type: Type.Literal("any"), disable_parallel_tool_use }),
    Type.Object({ type: Type.Literal("tool"), name: Type.String({ minLength: 1 }), disable_parallel_tool_use }),
    Type.Object({ type: Type.Literal("none") }),
  ],
  { title: "MessagesToolChoice" },
);
