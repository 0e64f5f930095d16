import { Type } from "../../base/type.ts";
import { ChatRequest } from "../../dialects/chat/schema/request.ts";
import { GenaiCountTokensRequest, GenerateContentRequest } from "../../dialects/genai/schema/request.ts";
import { InteractionsRequest } from "../../dialects/interactions/schema/request.ts";
import { CountTokensRequest, MessagesRequest } from "../../dialects/messages/schema/request.ts";
import { openObject } from "../../dialects/reading/schema-builders.ts";
import { ResponsesRequest } from "../../dialects/responses/schema/request.ts";
import { ChatCompletion, ChatCompletionChunk } from "./chat-answers.ts";
import { GenaiTokenCount, GenerateContentAnswer } from "./genai-answers.ts";
import { InteractionAnswer, InteractionStreamEvent } from "./interactions-answers.ts";
import { MessageAnswer, MessageStreamEvent, MessagesTokenCount } from "./messages-answers.ts";
import {
  ChatModel,
  ChatModelList,
  GenaiModel,
  GenaiModelList,
  MessagesModel,
  MessagesModelList,
  VendorChatModel,
  VendorChatModelList,
  VendorMessagesModel,
  VendorMessagesModelList,
} from "./model-lists.ts";
import { type ApiOperation, events, json } from "./operation.ts";
import { CALL_HEADERS, MODEL_IN_PATH } from "./parameters.ts";
import { ResponseAnswer, ResponseStreamEvent, ResponsesTokenCount } from "./responses-answers.ts";

const list = "The models that can be called.";
const one = "The model.";
const MESSAGE_HEADERS = ["partner-version", "anthropic-version", "partner-beta", ...CALL_HEADERS];

const createChatCompletion: ApiOperation = {
  method: "POST",
  id: "createChatCompletion",
  summary: "Create a chat completion",
  dialect: "chat",
  parameters: CALL_HEADERS,
  request: ChatRequest,
  answers: [
    json(ChatCompletion, "The response."),
    events(ChatCompletionChunk, "With `stream`: events whose data is one of these chunks; the last one is `[DONE]`."),
  ],
};

/** Of a wrong credential, an invalid page or name, and the key's rate limit. */
const LIST_FAILURES = ["400", "401", "403", "404", "429"];
const MESSAGES_PAGES = ["models-limit", "after_id", "before_id"];
const GENAI_PAGES = ["pageSize", "pageToken"];

const listChatModels: ApiOperation = {
  method: "GET",
  id: "listChatModels",
  summary: "List models",
  dialect: "chat",
  access: "listed",
  failures: LIST_FAILURES,
  answers: [json(ChatModelList, list)],
};

const getChatModel: ApiOperation = {
  ...listChatModels,
  id: "getChatModel",
  summary: "Show one model",
  parameters: MODEL_IN_PATH,
  answers: [json(ChatModel, one)],
};

const BY_HEADER = ["anthropic-version", "partner-version", "x-goog-api-client"];
const SHAPES = "Anthropic's format with a version header, Google's with x-goog-api-key or x-goog-api-client.";

/** One path for the clients of three protocols: headers that only theirs send select the shape. */
const listModelsByHeader: ApiOperation = {
  ...listChatModels,
  id: "listModels",
  parameters: [...BY_HEADER, ...MESSAGES_PAGES, ...GENAI_PAGES],
  answers: [json(Type.Union([VendorChatModelList, VendorMessagesModelList, GenaiModelList]), `${list} ${SHAPES}`)],
};

const getModelByHeader: ApiOperation = {
  ...listModelsByHeader,
  id: "getModel",
  summary: "Show one model",
  parameters: [...MODEL_IN_PATH, ...BY_HEADER],
  answers: [json(Type.Union([VendorChatModel, VendorMessagesModel, GenaiModel]), `${one} ${SHAPES}`)],
};

const createMessage: ApiOperation = {
  method: "POST",
  id: "createMessage",
  summary: "Create a message",
  dialect: "messages",
  parameters: MESSAGE_HEADERS,
  request: MessagesRequest,
  answers: [
    json(MessageAnswer, "The response."),
    events(MessageStreamEvent, "With `stream`: events named by their type, from message_start to message_stop."),
  ],
};

const countMessageTokens: ApiOperation = {
  method: "POST",
  id: "countMessageTokens",
  summary: "Count the tokens of a message's prompt",
  dialect: "messages",
  parameters: MESSAGE_HEADERS,
  request: CountTokensRequest,
  answers: [json(MessagesTokenCount, "The count.")],
};

const listMessagesModels: ApiOperation = {
  method: "GET",
  id: "listMessagesModels",
  summary: "List models",
  dialect: "messages",
  access: "listed",
  failures: LIST_FAILURES,
  parameters: MESSAGES_PAGES,
  answers: [json(MessagesModelList, list)],
};

const getMessagesModel: ApiOperation = {
  ...listMessagesModels,
  id: "getMessagesModel",
  summary: "Show one model",
  parameters: MODEL_IN_PATH,
  answers: [json(MessagesModel, one)],
};

const createResponse: ApiOperation = {
  method: "POST",
  id: "createResponse",
  summary: "Create a response",
  dialect: "responses",
  parameters: CALL_HEADERS,
  request: ResponsesRequest,
  answers: [
    json(ResponseAnswer, "The response."),
    events(
      ResponseStreamEvent,
      "With `stream`: events named by their type, from response.created to response.completed.",
    ),
  ],
};

const countResponseTokens: ApiOperation = {
  ...createResponse,
  id: "countResponseTokens",
  summary: "Count the tokens of a response's prompt",
  answers: [json(ResponsesTokenCount, "The count.")],
};

const generateContent: ApiOperation = {
  method: "POST",
  id: "generateContent",
  summary: "Generate content",
  dialect: "genai",
  parameters: [...MODEL_IN_PATH, ...CALL_HEADERS],
  request: GenerateContentRequest,
  answers: [json(GenerateContentAnswer, "The response.")],
};

const streamGenerateContent: ApiOperation = {
  ...generateContent,
  id: "streamGenerateContent",
  summary: "Generate content, streamed",
  parameters: [...MODEL_IN_PATH, "alt", ...CALL_HEADERS],
  answers: [
    events(GenerateContentAnswer, "Events whose data is one of these chunks, without a final marker."),
    json(
      Type.Array(GenerateContentAnswer),
      "At the compatible base URL, without `alt=sse`: one JSON array, sent in chunks.",
    ),
  ],
};

const countContentTokens: ApiOperation = {
  ...generateContent,
  id: "countContentTokens",
  summary: "Count the tokens of a prompt",
  request: GenaiCountTokensRequest,
  answers: [json(GenaiTokenCount, "The count.")],
};

const listGenaiModels: ApiOperation = {
  method: "GET",
  id: "listGenaiModels",
  summary: "List models",
  dialect: "genai",
  access: "listed",
  failures: LIST_FAILURES,
  parameters: GENAI_PAGES,
  answers: [json(GenaiModelList, list)],
};

const getGenaiModel: ApiOperation = {
  ...listGenaiModels,
  id: "getGenaiModel",
  summary: "Show one model",
  parameters: MODEL_IN_PATH,
  answers: [json(GenaiModel, one)],
};

const DeletedResponse = Type.Object(
  { id: Type.String(), object: Type.Literal("response"), deleted: Type.Literal(true) },
  { title: "DeletedResponse" },
);

const ResponseInputItems = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(openObject(), { description: "Items as in a request, each with its id." }),
    first_id: Type.Union([Type.String(), Type.Null()]),
    last_id: Type.Union([Type.String(), Type.Null()]),
    has_more: Type.Boolean(),
  },
  { title: "ResponseInputItems" },
);

const getResponse: ApiOperation = {
  method: "GET",
  id: "getResponse",
  summary: "Show a stored response",
  dialect: "responses",
  parameters: ["response-id"],
  answers: [json(ResponseAnswer, "The response as it was returned, or the state of a background response.")],
};

const deleteResponse: ApiOperation = {
  ...getResponse,
  method: "DELETE",
  id: "deleteResponse",
  summary: "Delete a stored response",
  answers: [json(DeletedResponse, "It is deleted, with the items of its request.")],
};

const cancelResponse: ApiOperation = {
  ...getResponse,
  method: "POST",
  id: "cancelResponse",
  summary: "Cancel a background response",
  answers: [json(ResponseAnswer, "The cancelled response.")],
};

const listResponseInput: ApiOperation = {
  ...getResponse,
  id: "listResponseInput",
  summary: "List the input items of a stored response",
  parameters: ["response-id", "limit", "order", "after"],
  answers: [json(ResponseInputItems, "One page of items.")],
};

const createInteraction: ApiOperation = {
  method: "POST",
  id: "createInteraction",
  summary: "Create an interaction",
  dialect: "interactions",
  parameters: CALL_HEADERS,
  request: InteractionsRequest,
  answers: [
    json(InteractionAnswer, "The interaction."),
    events(
      InteractionStreamEvent,
      "With `stream`: events named by their type, from interaction.created to interaction.completed; the last one is `[DONE]`.",
    ),
  ],
};

const getInteraction: ApiOperation = {
  method: "GET",
  id: "getInteraction",
  summary: "Show a stored interaction",
  dialect: "interactions",
  parameters: ["interaction-id", "include_input"],
  answers: [json(InteractionAnswer, "The interaction as it was returned, or the state of a background interaction.")],
};

const deleteInteraction: ApiOperation = {
  ...getInteraction,
  method: "DELETE",
  id: "deleteInteraction",
  summary: "Delete a stored interaction",
  parameters: ["interaction-id"],
  answers: [json(openObject(), "It is deleted, with the steps of its request. The object is empty.")],
};

const cancelInteraction: ApiOperation = {
  ...getInteraction,
  method: "POST",
  id: "cancelInteraction",
  summary: "Cancel a background interaction",
  parameters: ["interaction-id"],
  answers: [json(InteractionAnswer, "The cancelled interaction.")],
};

/** The operations of the dialects' endpoints, by id. */
export const TEXT_OPERATIONS: Readonly<Record<string, ApiOperation>> = Object.fromEntries(
  [
    createChatCompletion,
    listChatModels,
    getChatModel,
    listModelsByHeader,
    getModelByHeader,
    createMessage,
    countMessageTokens,
    listMessagesModels,
    getMessagesModel,
    createResponse,
    countResponseTokens,
    generateContent,
    streamGenerateContent,
    countContentTokens,
    listGenaiModels,
    getGenaiModel,
    getResponse,
    deleteResponse,
    cancelResponse,
    listResponseInput,
    createInteraction,
    getInteraction,
    deleteInteraction,
    cancelInteraction,
  ].map((operation) => [operation.id, operation]),
);
