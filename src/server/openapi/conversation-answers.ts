import { Type } from "../../base/type.ts";
import { openObject } from "../../dialects/reading/schema-builders.ts";
import { ChatCompletion } from "./chat-answers.ts";

const id = Type.Union([Type.String(), Type.Null()]);

const Metadata = Type.Record(Type.String(), Type.String());

const pageOf = (title: string, item: Parameters<typeof Type.Array>[0]) =>
  Type.Object(
    {
      object: Type.Literal("list"),
      data: Type.Array(item),
      first_id: id,
      last_id: id,
      has_more: Type.Boolean(),
    },
    { title },
  );

export const ConversationAnswer = Type.Object(
  {
    id: Type.String({ pattern: "^conv_" }),
    object: Type.Literal("conversation"),
    created_at: Type.Integer(),
    metadata: Metadata,
  },
  { title: "Conversation" },
);

export const DeletedConversation = Type.Object(
  { id: Type.String(), object: Type.Literal("conversation.deleted"), deleted: Type.Literal(true) },
  { title: "DeletedConversation" },
);

export const ConversationItem = openObject("An item as in a response, with its id.");
export const ConversationItems = pageOf("ConversationItems", ConversationItem);

export const StoredCompletion = Type.Object(
  { ...ChatCompletion.properties, metadata: Metadata },
  { title: "StoredChatCompletion" },
);
export const StoredCompletions = pageOf("StoredChatCompletions", StoredCompletion);

export const StoredMessages = pageOf(
  "StoredChatMessages",
  Type.Object(
    {
      id: Type.String(),
      role: Type.String(),
      content: Type.Union([Type.String(), Type.Null()]),
      content_parts: Type.Union([Type.Array(openObject()), Type.Null()]),
    },
    { title: "StoredChatMessage" },
  ),
);

export const DeletedCompletion = Type.Object(
  { id: Type.String(), object: Type.Literal("chat.completion.deleted"), deleted: Type.Literal(true) },
  { title: "DeletedChatCompletion" },
);
