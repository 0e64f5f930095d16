import type { ComponentSchemas } from "./component-schemas.ts";
import * as keys from "./key-operations.ts";
import * as media from "./media-operations.ts";
import { type Operation, operationObject } from "./operation.ts";
import * as operations from "./operations.ts";
import * as services from "./service-operations.ts";
import * as speech from "./speech-operations.ts";
import * as stored from "./stored-operations.ts";

const MODEL = "{provider}/{model}";
const GENAI_MODEL = "publishers/{provider}/models/{model}";

/** The contract door, its aliases, and the drop-in door (choices 1), distinguished in operation ids by a suffix. */
const PATHS: readonly [path: string, suffix: string, operation: Operation][] = [
  ["/api/v1/chat/completions", "", operations.createChatCompletion],
  ["/api/v1/responses", "", operations.createResponse],
  ["/api/v1/responses/input_tokens", "", operations.countResponseTokens],
  ["/api/v1/responses/compact", "", speech.compactResponse],
  ...storedPaths("/api/v1", ""),
  ["/api/v1/images/generations", "", media.generateImages],
  ["/api/v1/images/edits", "", media.editImages],
  ["/api/v1/embeddings", "", services.createEmbeddings],
  ["/api/v1/rerank", "", services.rerankDocuments],
  ["/api/v1/audio/speech", "", speech.createSpeech],
  ["/api/v1/audio/transcriptions", "", speech.createTranscription],
  ["/api/v1/audio/translations", "", speech.createTranslation],
  ["/api/v1/moderations", "", speech.createModeration],
  ["/api/v1/completions", "", speech.createCompletion],
  ["/api/v1/models", "", operations.listChatModels],
  [`/api/v1/models/${MODEL}`, "", operations.getChatModel],
  ["/api/v1/generation", "", operations.getReceipt],
  ["/api/v1/keys", "", keys.createChildKey],
  ["/api/v1/keys", "", keys.listChildKeys],
  ["/api/v1/keys/{id}", "", keys.getChildKey],
  ["/api/v1/keys/{id}", "", keys.revokeChildKey],
  ...messagesPaths("/api/msg", ""),
  ...messagesPaths("/api/anthropic", "Alias"),
  ...genaiPaths("/api/genai", ""),
  ...genaiPaths("/api/vertex-ai", "Alias"),
  ["/v1/chat/completions", "DropIn", operations.createChatCompletion],
  ["/v1/responses", "DropIn", operations.createResponse],
  ["/v1/responses/input_tokens", "DropIn", operations.countResponseTokens],
  ["/v1/responses/compact", "DropIn", speech.compactResponse],
  ...storedPaths("/v1", "DropIn"),
  ["/v1/images/generations", "DropIn", media.generateImages],
  ["/v1/images/edits", "DropIn", media.editImages],
  ["/v1/embeddings", "DropIn", services.createEmbeddings],
  ["/v1/rerank", "DropIn", services.rerankDocuments],
  ["/v1/audio/speech", "DropIn", speech.createSpeech],
  ["/v1/audio/transcriptions", "DropIn", speech.createTranscription],
  ["/v1/audio/translations", "DropIn", speech.createTranslation],
  ["/v1/moderations", "DropIn", speech.createModeration],
  ["/v1/completions", "DropIn", speech.createCompletion],
  ["/v2/rerank", "DropInV2", services.rerankDocuments],
  ["/v1/messages", "DropIn", operations.createMessage],
  ["/v1/messages/count_tokens", "DropIn", operations.countMessageTokens],
  ["/v1/models", "DropIn", operations.listModelsByHeader],
  [`/v1/models/${MODEL}`, "DropIn", operations.getModelByHeader],
  ["/v1/generation", "DropIn", operations.getReceipt],
  ...genaiPaths("", "DropIn"),
  [`/v1beta/models/${MODEL}:generateContent`, "DropInBeta", operations.generateContent],
  [`/v1beta/models/${MODEL}:streamGenerateContent`, "DropInBeta", operations.streamGenerateContent],
  [`/v1beta/models/${MODEL}:countTokens`, "DropInBeta", operations.countContentTokens],
  [`/v1beta/models/${MODEL}:embedContent`, "DropInBeta", services.embedContent],
  [`/v1beta/models/${MODEL}:batchEmbedContents`, "DropInBeta", services.batchEmbedContents],
  [`/v1beta/models/${MODEL}:predict`, "DropInBeta", media.predictImages],
  [`/v1beta/models/${MODEL}:predictLongRunning`, "DropInBeta", media.submitVideos],
  [`/v1beta/models/${MODEL}:fetchPredictOperation`, "DropInBeta", media.fetchVideoOperation],
  ["/files/{id}", "", media.getFile],
  ["/files/{id}", "", media.headFile],
  ["/healthz", "", operations.getHealth],
  ["/readyz", "", operations.getReadiness],
  ["/openapi.json", "", operations.getOpenApi],
];

function storedPaths(root: string, suffix: string): [string, string, Operation][] {
  return [
    [`${root}/responses/{id}`, suffix, stored.getResponse],
    [`${root}/responses/{id}`, suffix, stored.deleteResponse],
    [`${root}/responses/{id}/input_items`, suffix, stored.listResponseInput],
    [`${root}/responses/{id}/cancel`, suffix, stored.cancelResponse],
  ];
}

function messagesPaths(root: string, suffix: string): [string, string, Operation][] {
  return [
    [`${root}/v1/messages`, suffix, operations.createMessage],
    [`${root}/v1/messages/count_tokens`, suffix, operations.countMessageTokens],
    [`${root}/v1/models`, suffix, operations.listMessagesModels],
    [`${root}/v1/models/${MODEL}`, suffix, operations.getMessagesModel],
  ];
}

function genaiPaths(root: string, suffix: string): [string, string, Operation][] {
  return [
    [`${root}/v1/${GENAI_MODEL}:generateContent`, suffix, operations.generateContent],
    [`${root}/v1/${GENAI_MODEL}:streamGenerateContent`, suffix, operations.streamGenerateContent],
    [`${root}/v1/${GENAI_MODEL}:countTokens`, suffix, operations.countContentTokens],
    [`${root}/v1/${GENAI_MODEL}:embedContent`, suffix, services.embedContent],
    [`${root}/v1/${GENAI_MODEL}:batchEmbedContents`, suffix, services.batchEmbedContents],
    [`${root}/v1/${GENAI_MODEL}:predict`, suffix, media.predictImages],
    [`${root}/v1/${GENAI_MODEL}:predictLongRunning`, suffix, media.submitVideos],
    [`${root}/v1/${GENAI_MODEL}:fetchPredictOperation`, suffix, media.fetchVideoOperation],
    [`${root}/v1beta/models`, suffix, operations.listGenaiModels],
    [`${root}/v1beta/models/${MODEL}`, suffix, operations.getGenaiModel],
  ];
}

export function pathItems(schemas: ComponentSchemas): Record<string, object> {
  const items: Record<string, Record<string, object>> = {};
  for (const [path, suffix, operation] of PATHS) {
    items[path] = { ...items[path], [operation.method]: operationObject(operation, suffix, schemas) };
  }
  return items;
}
