import { relayCompactions } from "../relay/service/compactions.ts";
import { relayCompletions } from "../relay/service/completions.ts";
import { relayEmbeddings } from "../relay/service/embeddings.ts";
import { relayModerations } from "../relay/service/moderations.ts";
import { relayRerank } from "../relay/service/rerank.ts";
import type { IncomingService } from "../relay/service/service-call.ts";
import { relaySpeech } from "../relay/service/speech.ts";
import { relayTranscription } from "../relay/service/transcriptions.ts";
import type { EmbeddingProtocol } from "../services/embeddings/embedding-protocol.ts";
import {
  BATCH_EMBED_CONTENTS,
  EMBED_CONTENT,
  EMBEDDINGS,
  PREDICT_EMBEDDINGS,
} from "../services/embeddings/protocols.ts";
import { incomingRequest } from "./incoming-request.ts";
import { predictImages } from "./media-calls.ts";
import type { Handler, RoutedRequest } from "./routed-request.ts";

const incoming = (routed: RoutedRequest): IncomingService => ({ ...incomingRequest(routed), door: routed.door });

const inPath = (routed: RoutedRequest): IncomingService => ({
  ...incoming(routed),
  modelInPath: routed.dialect.http.readModel(routed.parameters),
});

const embed =
  (protocol: EmbeddingProtocol): Handler =>
  (routed, { gateway }) =>
    relayEmbeddings(inPath(routed), gateway, protocol);

/** `embeddings` */
export const embedInputs: Handler = (routed, { gateway }) => relayEmbeddings(incoming(routed), gateway, EMBEDDINGS);

/** `:embedContent` */
export const embedContent: Handler = embed(EMBED_CONTENT);

/** `:batchEmbedContents` */
export const batchEmbedContents: Handler = embed(BATCH_EMBED_CONTENTS);

/** `rerank` */
export const rerankDocuments: Handler = (routed, { gateway }) => relayRerank(incoming(routed), gateway);

/** `audio/speech` */
export const speak: Handler = (routed, { gateway }) => relaySpeech(incoming(routed), gateway);

/** `audio/transcriptions` */
export const transcribe: Handler = (routed, { gateway }) =>
  relayTranscription(incoming(routed), gateway, "transcriptions");

/** `audio/translations` */
export const translate: Handler = (routed, { gateway }) =>
  relayTranscription(incoming(routed), gateway, "translations");

/** `moderations` */
export const moderate: Handler = (routed, { gateway }) => relayModerations(incoming(routed), gateway);

/** `completions` */
export const complete: Handler = (routed, { gateway }) => relayCompletions(incoming(routed), gateway);

/** `responses/compact` */
export const compact: Handler = (routed, { gateway }) => relayCompactions(incoming(routed), gateway);

/** `:predict` makes images or embeddings: its model says which. One that is unknown is refused as for images. */
export const predict: Handler = (routed, context) => {
  const { catalogue } = context.gateway.snapshot;
  const { modelInPath = "", naming } = inPath(routed);
  const isEmbedding = catalogue.kindOf(modelInPath, naming) === "embedding";
  return isEmbedding
    ? relayEmbeddings(inPath(routed), context.gateway, PREDICT_EMBEDDINGS)
    : predictImages(routed, context);
};
