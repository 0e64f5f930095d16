import { Type } from "../../base/type.ts";
import { ChatRequest } from "../../dialects/chat/schema.ts";
import { GenaiCountTokensRequest, GenerateContentRequest } from "../../dialects/genai/schema.ts";
import { CountTokensRequest, MessagesRequest } from "../../dialects/messages/schema.ts";
import { ResponsesRequest } from "../../dialects/responses/schema.ts";
import { openObject } from "../../dialects/schema-builders.ts";
import { ChatCompletion, ChatCompletionChunk } from "./chat-answers.ts";
import { GenaiTokenCount, GenerateContentAnswer } from "./genai-answers.ts";
import { MessageAnswer, MessageStreamEvent, MessagesTokenCount } from "./messages-answers.ts";
import {
  ChatModel,
  ChatModelList,
  GenaiModel,
  GenaiModelList,
  MessagesModel,
  MessagesModelList,
  VendorMessagesModel,
  VendorMessagesModelList,
} from "./model-lists.ts";
import { events, json, type Operation } from "./operation.ts";
import { CALL_HEADERS } from "./parameters.ts";
import { ReceiptAnswer } from "./receipt.ts";
import { ResponseAnswer, ResponseStreamEvent, ResponsesTokenCount } from "./responses-answers.ts";

const list = "The models that have a live offer.";
const one = "The model.";
const MESSAGE_HEADERS = ["partner-version", "anthropic-version", "partner-beta", ...CALL_HEADERS];
const IN_PATH = ["provider", "model"];

export const createChatCompletion: Operation = {
  method: "post",
  id: "createChatCompletion",
  summary: "Create a chat completion",
  dialect: "chat",
  parameters: CALL_HEADERS,
  request: ChatRequest,
  answers: [
    json(ChatCompletion, "The answer."),
    events(ChatCompletionChunk, "With `stream`: events whose data are these chunks; the last data is `[DONE]`."),
  ],
};

/** Of a credential, of a page or name that cannot be, and of the key's rate. */
const LIST_FAILURES = ["400", "401", "403", "404", "429"];
const MESSAGES_PAGES = ["models-limit", "after_id", "before_id"];
const GENAI_PAGES = ["pageSize", "pageToken"];

export const listChatModels: Operation = {
  method: "get",
  id: "listChatModels",
  summary: "List models",
  dialect: "chat",
  access: "listed",
  failures: LIST_FAILURES,
  answers: [json(ChatModelList, list)],
};

export const getChatModel: Operation = {
  ...listChatModels,
  id: "getChatModel",
  summary: "Show one model",
  parameters: IN_PATH,
  answers: [json(ChatModel, one)],
};

const BY_HEADER = ["anthropic-version", "partner-version", "x-goog-api-client"];
const SHAPES = "Anthropic's shape with a version header, Google's with x-goog-api-key or x-goog-api-client.";

/** One path for the clients of three protocols: headers that only theirs send select the shape. */
export const listModelsByHeader: Operation = {
  ...listChatModels,
  id: "listModels",
  parameters: [...BY_HEADER, ...MESSAGES_PAGES, ...GENAI_PAGES],
  answers: [json(Type.Union([ChatModelList, VendorMessagesModelList, GenaiModelList]), `${list} ${SHAPES}`)],
};

export const getModelByHeader: Operation = {
  ...listModelsByHeader,
  id: "getModel",
  summary: "Show one model",
  parameters: [...IN_PATH, ...BY_HEADER],
  answers: [json(Type.Union([ChatModel, VendorMessagesModel, GenaiModel]), `${one} ${SHAPES}`)],
};

export const getReceipt: Operation = {
  method: "get",
  id: "getReceipt",
  summary: "Show what happened to a call",
  dialect: "chat",
  parameters: ["receipt-id"],
  answers: [json(ReceiptAnswer, "The receipt.")],
};

export const createMessage: Operation = {
  method: "post",
  id: "createMessage",
  summary: "Create a message",
  dialect: "messages",
  parameters: MESSAGE_HEADERS,
  request: MessagesRequest,
  answers: [
    json(MessageAnswer, "The answer."),
    events(MessageStreamEvent, "With `stream`: events named by their type, from message_start to message_stop."),
  ],
};

export const countMessageTokens: Operation = {
  method: "post",
  id: "countMessageTokens",
  summary: "Count the tokens of a message's prompt",
  dialect: "messages",
  parameters: MESSAGE_HEADERS,
  request: CountTokensRequest,
  answers: [json(MessagesTokenCount, "The count.")],
};

export const listMessagesModels: Operation = {
  method: "get",
  id: "listMessagesModels",
  summary: "List models",
  dialect: "messages",
  access: "listed",
  failures: LIST_FAILURES,
  parameters: MESSAGES_PAGES,
  answers: [json(MessagesModelList, list)],
};

export const getMessagesModel: Operation = {
  ...listMessagesModels,
  id: "getMessagesModel",
  summary: "Show one model",
  parameters: IN_PATH,
  answers: [json(MessagesModel, one)],
};

export const createResponse: Operation = {
  method: "post",
  id: "createResponse",
  summary: "Create a response",
  dialect: "responses",
  parameters: CALL_HEADERS,
  request: ResponsesRequest,
  answers: [
    json(ResponseAnswer, "The answer."),
    events(
      ResponseStreamEvent,
      "With `stream`: events named by their type, from response.created to response.completed.",
    ),
  ],
};

export const countResponseTokens: Operation = {
  ...createResponse,
  id: "countResponseTokens",
  summary: "Count the tokens of a response's prompt",
  answers: [json(ResponsesTokenCount, "The count.")],
};

export const generateContent: Operation = {
  method: "post",
  id: "generateContent",
  summary: "Generate content",
  dialect: "genai",
  parameters: [...IN_PATH, ...CALL_HEADERS],
  request: GenerateContentRequest,
  answers: [json(GenerateContentAnswer, "The answer.")],
};

export const streamGenerateContent: Operation = {
  ...generateContent,
  id: "streamGenerateContent",
  summary: "Generate content, streamed",
  parameters: [...IN_PATH, "alt", ...CALL_HEADERS],
  answers: [
    events(GenerateContentAnswer, "With `alt=sse`: events whose data are these chunks, without a closing sentinel."),
    json(Type.Array(GenerateContentAnswer), "Without it: one JSON array, sent in chunks."),
  ],
};

export const countContentTokens: Operation = {
  ...generateContent,
  id: "countContentTokens",
  summary: "Count the tokens of a prompt",
  request: GenaiCountTokensRequest,
  answers: [json(GenaiTokenCount, "The count.")],
};

export const listGenaiModels: Operation = {
  method: "get",
  id: "listGenaiModels",
  summary: "List models",
  dialect: "genai",
  access: "listed",
  failures: LIST_FAILURES,
  parameters: GENAI_PAGES,
  answers: [json(GenaiModelList, list)],
};

export const getGenaiModel: Operation = {
  ...listGenaiModels,
  id: "getGenaiModel",
  summary: "Show one model",
  parameters: IN_PATH,
  answers: [json(GenaiModel, one)],
};

const Status = Type.Object({ status: Type.String(), reason: Type.Optional(Type.String()) }, { title: "Status" });

export const getHealth: Operation = {
  method: "get",
  id: "getHealth",
  summary: "Whether the process is up",
  dialect: "chat",
  access: "open",
  answers: [json(Status, "It is up.")],
};

export const getReadiness: Operation = {
  ...getHealth,
  id: "getReadiness",
  summary: "Whether the gateway takes calls",
  answers: [
    json(Status, "It takes calls: ready, or degraded for the reason given."),
    { ...json(Status, "It does not, for the reason given."), status: 503 },
  ],
};

export const getOpenApi: Operation = {
  ...getHealth,
  id: "getOpenApi",
  summary: "This document",
  answers: [json(openObject(), "An OpenAPI 3.1 document.")],
};
