import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { anyOtherKind, nullable, openObject } from "../../reading/schema-builders.ts";
import { Content, MAX_TEXT } from "./content.ts";

/** The vendor accepts 64 characters, but has issued longer ids itself. No provider issues ids of more than this. */
const MAX_ID = 512;

const Id = Type.String({ maxLength: MAX_ID });
const label = Type.Optional(nullable(Id));
const status = Type.Optional(nullable(Type.String()));
const CallId = Type.String({
  minLength: 1,
  maxLength: MAX_ID,
  description: "Links a call to its output. It is not the item's `id`.",
});
const namespace = Type.Optional(nullable(Type.String()));
const ToolName = Type.String({ minLength: 1 });

/** `type` may be absent in the short form of a message (R4). */
const Message = Type.Object(
  {
    type: Type.Optional(nullable(Type.Literal("message"))),
    role: Type.Enum(["user", "assistant", "system", "developer"]),
    content: Content,
    id: label,
    status,
    phase: Type.Optional(
      nullable(Type.String({ description: "`commentary` or `final_answer`, as in the original response." })),
    ),
  },
  { title: "ResponsesMessage" },
);

const FunctionCall = Type.Object(
  {
    type: Type.Literal("function_call"),
    call_id: CallId,
    name: ToolName,
    arguments: Type.String({ description: "JSON text, exactly as the model wrote it." }),
    namespace,
    id: label,
    status,
  },
  { title: "ResponsesFunctionCall" },
);

const FunctionCallOutput = Type.Object(
  { type: Type.Literal("function_call_output"), call_id: CallId, output: Content, id: label, status },
  { title: "ResponsesFunctionCallOutput" },
);

const CustomToolCall = Type.Object(
  {
    type: Type.Literal("custom_tool_call"),
    call_id: CallId,
    name: ToolName,
    input: Type.String({ maxLength: MAX_TEXT }),
    namespace,
    id: label,
    status,
  },
  { title: "ResponsesCustomToolCall" },
);

const CustomToolCallOutput = Type.Object(
  { type: Type.Literal("custom_tool_call_output"), call_id: CallId, output: Content, id: label, status },
  { title: "ResponsesCustomToolCallOutput" },
);

const thoughts = Type.Array(Type.Object({ type: Type.String(), text: Type.String() }));

/** Some clients send `content: null`, others omit it or the id (R4). */
const Reasoning = Type.Object(
  {
    type: Type.Literal("reasoning"),
    id: label,
    summary: Type.Optional(nullable(thoughts)),
    content: Type.Optional(nullable(thoughts)),
    encrypted_content: Type.Optional(nullable(Type.String())),
    status,
  },
  {
    title: "ResponsesReasoning",
    description: "Return it unchanged: the provider that created it verifies the reasoning by its encrypted content.",
  },
);

const ItemReference = Type.Object(
  {
    type: Type.Optional(nullable(Type.Literal("item_reference"))),
    id: Type.String({ minLength: 1, maxLength: MAX_ID }),
  },
  { title: "ResponsesItemReference", description: "An item of a stored response." },
);

const LISTED_ITEMS = [
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "reasoning",
  "item_reference",
];

/** Most frequent first, because the compiled check tries them in order. Any other item is sent unchanged to providers of this protocol. */
export const InputItem = Type.Union(
  [
    Message,
    FunctionCall,
    FunctionCallOutput,
    Reasoning,
    CustomToolCall,
    CustomToolCallOutput,
    anyOtherKind(LISTED_ITEMS),
    ItemReference,
  ],
  { title: "ResponsesItem" },
);
export type InputItem = Static<typeof InputItem>;

/** An item of a response, of any kind. */
export const OutputItem = Type.Unsafe<Record<string, unknown>>({
  ...openObject("A message, a tool call, reasoning, or the work of a hosted tool, depending on its `type`."),
  title: "ResponsesOutputItem",
});
