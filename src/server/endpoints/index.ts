import { cancelBatch, createBatch, listBatches, showBatch } from "./batches.ts";
import {
  createCachedContent,
  deleteCachedContent,
  getCachedContent,
  listCachedContents,
  updateCachedContent,
} from "./cached-contents.ts";
import { createChildKey, getChildKey, listChildKeys, revokeChildKey } from "./child-keys.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { createClientSecret } from "./client-secrets.ts";
import { compactResponse } from "./compactions.ts";
import { createCompletion } from "./completions.ts";
import {
  addConversationItems,
  createConversation,
  deleteConversation,
  deleteConversationItem,
  listConversationItems,
  showConversation,
  showConversationItem,
  updateConversation,
} from "./conversations.ts";
import { batchEmbedContents, createEmbeddings, embedContent } from "./embeddings.ts";
import { downloadFile, getFile, headFile } from "./files.ts";
import { openGeminiLive } from "./gemini-live.ts";
import {
  batchGenerateContent,
  cancelGenaiBatch,
  deleteGenaiBatch,
  listGenaiBatches,
  showGenaiBatch,
} from "./genai-batches.ts";
import { getHealth, getReadiness } from "./health.ts";
import { editImages, generateImages, predictImages } from "./images.ts";
import { openResponses } from "./live-responses.ts";
import {
  cancelMessageBatch,
  createMessageBatch,
  deleteMessageBatch,
  listMessageBatches,
  readMessageBatch,
  showMessageBatch,
} from "./message-batches.ts";
import { createModeration } from "./moderations.ts";
import { getOpenApi } from "./openapi-page.ts";
import { openRealtime } from "./realtime.ts";
import { getReceipt } from "./receipts.ts";
import { rerankDocuments } from "./rerank.ts";
import { getRoot } from "./root-page.ts";
import { createSpeech } from "./speech.ts";
import {
  deleteCompletion,
  listCompletionMessages,
  listCompletions,
  showCompletion,
  updateCompletion,
} from "./stored-completions.ts";
import { createTranscription, createTranslation } from "./transcriptions.ts";
import {
  deleteFile,
  deleteGenaiFile,
  listFiles,
  listGenaiFiles,
  readFile,
  showFile,
  showGenaiFile,
  uploadFile,
} from "./uploaded-files.ts";
import { addUploadPart, cancelUpload, completeUpload, createUpload, resumeUpload } from "./uploads.ts";
import { fetchVideoOperation, getVideoOperation, submitVideos } from "./videos.ts";
import {
  createVideo,
  deleteVideo,
  editVideo,
  extendVideo,
  getVideo,
  getVideoContent,
  listVideos,
  remixVideo,
} from "./videos-api.ts";

/** Every endpoint for clients except those that the dialects declare. */
export const ENDPOINTS: readonly ClientEndpoint[] = [
  generateImages,
  editImages,
  createEmbeddings,
  rerankDocuments,
  createSpeech,
  createTranscription,
  createTranslation,
  createModeration,
  createCompletion,
  compactResponse,
  openResponses,
  openRealtime,
  createClientSecret,
  openGeminiLive,
  createConversation,
  showConversation,
  updateConversation,
  deleteConversation,
  addConversationItems,
  listConversationItems,
  showConversationItem,
  deleteConversationItem,
  listCompletions,
  showCompletion,
  updateCompletion,
  deleteCompletion,
  listCompletionMessages,
  getReceipt,
  createChildKey,
  listChildKeys,
  getChildKey,
  revokeChildKey,
  embedContent,
  batchEmbedContents,
  predictImages,
  submitVideos,
  fetchVideoOperation,
  getVideoOperation,
  createVideo,
  listVideos,
  editVideo,
  extendVideo,
  getVideo,
  deleteVideo,
  getVideoContent,
  remixVideo,
  downloadFile,
  createBatch,
  listBatches,
  showBatch,
  cancelBatch,
  createMessageBatch,
  listMessageBatches,
  showMessageBatch,
  cancelMessageBatch,
  readMessageBatch,
  deleteMessageBatch,
  deleteGenaiBatch,
  batchGenerateContent,
  listGenaiBatches,
  showGenaiBatch,
  cancelGenaiBatch,
  createCachedContent,
  listCachedContents,
  getCachedContent,
  updateCachedContent,
  deleteCachedContent,
  createUpload,
  addUploadPart,
  completeUpload,
  cancelUpload,
  resumeUpload,
  uploadFile,
  listFiles,
  showFile,
  readFile,
  deleteFile,
  listGenaiFiles,
  showGenaiFile,
  deleteGenaiFile,
  getFile,
  headFile,
  getRoot,
  getHealth,
  getReadiness,
  getOpenApi(() => ENDPOINTS),
];
