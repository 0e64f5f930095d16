import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable, unlisted, unlistedKind } from "../../reading/schema-builders.ts";

const LISTED_PARTS = ["text", "image_url", "input_audio", "file", "refusal"];
const UnlistedPart = unlistedKind(LISTED_PARTS);

const TextPart = Type.Object({ type: Type.Literal("text"), text: Type.String() }, { title: "ChatTextPart" });

const ImagePart = Type.Object(
  {
    type: Type.Literal("image_url"),
    image_url: Type.Object({
      url: Type.String({ minLength: 1, description: "A URL, or a base64 data URL." }),
      detail: Type.Optional(Type.Enum(["low", "high", "auto"])),
    }),
  },
  { title: "ChatImagePart" },
);

const AudioPart = Type.Object(
  {
    type: Type.Literal("input_audio"),
    input_audio: Type.Object({
      data: Type.String({ description: "Base64." }),
      format: Type.String({ minLength: 1, examples: ["wav", "mp3"] }),
    }),
  },
  { title: "ChatAudioPart" },
);

const FilePart = Type.Object(
  {
    type: Type.Literal("file"),
    file: Type.Object({
      file_id: Type.Optional(Type.String()),
      file_data: Type.Optional(Type.String({ description: "Base64." })),
      filename: Type.Optional(Type.String()),
    }),
  },
  { title: "ChatFilePart" },
);

const RefusalPart = Type.Object(
  { type: Type.Literal("refusal"), refusal: Type.String() },
  { title: "ChatRefusalPart" },
);

const TextContent = Type.Union([Type.String(), Type.Array(Type.Union([TextPart, UnlistedPart]))]);
const UserPart = Type.Union([TextPart, ImagePart, AudioPart, FilePart, UnlistedPart]);
/** Some providers accept media in tool messages. The contract lists only texts. */
const ToolMedia = [ImagePart, AudioPart, FilePart].map((part) => Type.Object(part.properties, unlisted));
const ToolContent = Type.Union([Type.String(), Type.Array(Type.Union([TextPart, ...ToolMedia, UnlistedPart]))]);
const name = Type.Optional(Type.String());

const FunctionCall = Type.Object(
  {
    type: Type.Literal("function"),
    id: Type.String(),
    function: Type.Object({
      name: Type.String({ minLength: 1 }),
      arguments: Type.String({ description: "JSON text, exactly as the model wrote it." }),
    }),
  },
  { title: "ChatFunctionCall" },
);

const CustomCall = Type.Object(
  {
    type: Type.Literal("custom"),
    id: Type.String(),
    custom: Type.Object({ name: Type.String({ minLength: 1 }), input: Type.String() }),
  },
  { title: "ChatCustomCall" },
);

export const ToolCall = Type.Union([FunctionCall, CustomCall, unlistedKind(["function", "custom"])]);

export const ReasoningDetail = Type.Object(
  {
    type: Type.String({ examples: ["reasoning.text"] }),
    text: Type.Optional(nullable(Type.String())),
    signature: Type.Optional(nullable(Type.String())),
    format: Type.Optional(nullable(Type.String())),
    index: Type.Optional(nullable(Type.Number())),
  },
  {
    title: "ChatReasoningDetail",
    description: "Return it unchanged: the provider verifies the reasoning by its signature.",
  },
);

const DeveloperMessage = Type.Object({ role: Type.Literal("developer"), content: TextContent, name });
const SystemMessage = Type.Object({ role: Type.Literal("system"), content: TextContent, name });
const UserMessage = Type.Object({
  role: Type.Literal("user"),
  content: Type.Union([Type.String(), Type.Array(UserPart)]),
  name,
});
const AssistantMessage = Type.Object({
  role: Type.Literal("assistant"),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.Union([TextPart, RefusalPart, UnlistedPart])), Type.Null()]),
  ),
  refusal: Type.Optional(nullable(Type.String())),
  name,
  audio: Type.Optional(nullable(Type.Object({ id: Type.String() }))),
  tool_calls: Type.Optional(nullable(Type.Array(ToolCall))),
  function_call: Type.Optional(
    nullable(Type.Object({ name: Type.String(), arguments: Type.String() }, { deprecated: true })),
  ),
  reasoning: Type.Optional(nullable(Type.String())),
  reasoning_content: Type.Optional(nullable(Type.String())),
  reasoning_details: Type.Optional(nullable(Type.Array(ReasoningDetail))),
});
const ToolMessage = Type.Object({
  role: Type.Literal("tool"),
  tool_call_id: Type.String({ description: "The id of the tool call that this message answers." }),
  content: ToolContent,
  name,
});
const FunctionMessage = Type.Object({
  role: Type.Literal("function"),
  name: Type.String(),
  content: nullable(TextContent),
});

/** Most frequent first, because the compiled check tries them in order. */
export const ChatMessage = Type.Union(
  [UserMessage, AssistantMessage, ToolMessage, SystemMessage, DeveloperMessage, FunctionMessage],
  { title: "ChatMessage" },
);
export type ChatMessage = Static<typeof ChatMessage>;
