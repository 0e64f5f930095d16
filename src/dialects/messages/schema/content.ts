import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable, openObject, unlisted, unlistedKind } from "../../reading/schema-builders.ts";
import { Citation } from "./citations.ts";

const LISTED_BLOCKS = [
  "text",
  "image",
  "document",
  "tool_result",
  "tool_use",
  "server_tool_use",
  "web_search_tool_result",
  "web_search_result",
  "web_search_tool_result_error",
  "thinking",
  "redacted_thinking",
  "search_result",
];
const UnlistedBlock = unlistedKind(LISTED_BLOCKS);

export const CacheControl = nullable(
  Type.Object(
    { type: Type.Literal("ephemeral"), ttl: Type.Optional(Type.Enum(["5m", "1h"])) },
    { title: "CacheControl" },
  ),
);
const cache_control = Type.Optional(CacheControl);
const nullableText = Type.Optional(nullable(Type.String()));
const citationSwitch = Type.Optional(nullable(Type.Object({ enabled: Type.Boolean() })));
const base64 = Type.String({ description: "Base64." });
const UrlSource = Type.Object({ type: Type.Literal("url"), url: Type.String({ minLength: 1 }) });
const FileSource = Type.Object({ type: Type.Literal("file"), file_id: Type.String({ minLength: 1 }) }, unlisted);

export const TextBlock = Type.Object(
  {
    type: Type.Literal("text"),
    text: Type.String(),
    cache_control,
    citations: Type.Optional(nullable(Type.Array(Citation))),
  },
  { title: "TextBlock" },
);

const ImageBlock = Type.Object(
  {
    type: Type.Literal("image"),
    source: Type.Union([
      Type.Object({
        type: Type.Literal("base64"),
        media_type: Type.Enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
        data: base64,
      }),
      UrlSource,
      FileSource,
    ]),
    cache_control,
  },
  { title: "ImageBlock" },
);

const DocumentBlock = Type.Object(
  {
    type: Type.Literal("document"),
    source: Type.Union([
      Type.Object({ type: Type.Literal("base64"), media_type: Type.Literal("application/pdf"), data: base64 }),
      Type.Object({ type: Type.Literal("text"), media_type: Type.Literal("text/plain"), data: Type.String() }),
      Type.Object({
        type: Type.Literal("content"),
        content: Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock, UnlistedBlock]))]),
      }),
      UrlSource,
      FileSource,
    ]),
    cache_control,
    citations: citationSwitch,
    context: nullableText,
    title: nullableText,
  },
  { title: "DocumentBlock" },
);

const SearchResultBlock = Type.Object(
  {
    type: Type.Literal("search_result"),
    source: nullableText,
    title: nullableText,
    content: Type.Array(Type.Union([TextBlock, ImageBlock, DocumentBlock, UnlistedBlock])),
    cache_control,
    citations: citationSwitch,
  },
  { title: "SearchResultBlock" },
);

const ToolResultContent = Type.Union([TextBlock, ImageBlock, SearchResultBlock, DocumentBlock, UnlistedBlock]);

const ToolResultBlock = Type.Object(
  {
    type: Type.Literal("tool_result"),
    tool_use_id: Type.String({
      minLength: 1,
      description: "The id of the tool_use block that this result belongs to.",
    }),
    content: Type.Optional(Type.Union([Type.String(), Type.Array(ToolResultContent)])),
    is_error: Type.Optional(Type.Boolean()),
    cache_control,
  },
  { title: "ToolResultBlock" },
);

const ToolUseBlock = Type.Object(
  {
    type: Type.Literal("tool_use"),
    id: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    input: openObject("The arguments, matching the tool's input_schema."),
    cache_control,
  },
  { title: "ToolUseBlock" },
);

const ServerToolUseBlock = Type.Object(
  {
    type: Type.Literal("server_tool_use"),
    id: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    input: Type.Optional(openObject()),
    cache_control,
  },
  { title: "ServerToolUseBlock" },
);

const WebSearchResult = Type.Object(
  {
    type: Type.Literal("web_search_result"),
    url: Type.String(),
    title: Type.String(),
    encrypted_content: Type.String({ description: "Opaque; return it unchanged." }),
    page_age: nullableText,
  },
  { title: "WebSearchResult" },
);

const WebSearchError = Type.Object(
  {
    type: Type.Literal("web_search_tool_result_error"),
    error_code: Type.Enum([
      "too_many_requests",
      "invalid_input",
      "max_uses_exceeded",
      "query_too_long",
      "unavailable",
      // Two codes that upstreams add: a client echoes whichever it received.
      "invalid_tool_input",
      "request_too_large",
    ]),
  },
  { title: "WebSearchError" },
);

const WebSearchToolResultBlock = Type.Object(
  {
    type: Type.Literal("web_search_tool_result"),
    tool_use_id: Type.String({ minLength: 1 }),
    content: Type.Union([Type.Array(WebSearchResult), WebSearchError]),
    cache_control,
  },
  { title: "WebSearchToolResultBlock" },
);

const ThinkingBlock = Type.Object(
  {
    type: Type.Literal("thinking"),
    thinking: Type.String(),
    signature: Type.String({ description: "Opaque; return it unchanged." }),
  },
  { title: "ThinkingBlock" },
);

const RedactedThinkingBlock = Type.Object(
  {
    type: Type.Literal("redacted_thinking"),
    data: Type.String({ description: "Opaque; return it unchanged." }),
  },
  { title: "RedactedThinkingBlock" },
);

/** Ordered by frequency: the compiled check tries them in turn. */
export const ContentBlock = Type.Union(
  [
    TextBlock,
    ToolUseBlock,
    ToolResultBlock,
    ThinkingBlock,
    ImageBlock,
    DocumentBlock,
    RedactedThinkingBlock,
    ServerToolUseBlock,
    WebSearchToolResultBlock,
    SearchResultBlock,
    WebSearchResult,
    WebSearchError,
    UnlistedBlock,
  ],
  { title: "ContentBlock" },
);
export type ContentBlock = Static<typeof ContentBlock>;

export const Message = Type.Object(
  {
    role: Type.Enum(["user", "assistant", "system"]),
    content: Type.Union([Type.String(), Type.Array(ContentBlock)]),
  },
  { title: "Message" },
);

export const SystemPrompt = Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, UnlistedBlock]))]);
