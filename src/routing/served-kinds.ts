import type { ModelKind } from "../catalogue/model.ts";
import type { ServiceName } from "../services/service-adapters.ts";

/** The kind of model that each service needs, and what such a model makes. */
export const SERVED_KINDS: Readonly<Record<ServiceName, { kind: ModelKind; makes: string }>> = {
  embeddings: { kind: "embedding", makes: "embeddings" },
  rerank: { kind: "rerank", makes: "rankings" },
  speech: { kind: "speech", makes: "speech" },
  transcriptions: { kind: "transcription", makes: "transcriptions" },
  translations: { kind: "transcription", makes: "translations" },
  moderations: { kind: "moderation", makes: "moderations" },
  completions: { kind: "text", makes: "completions" },
  compactions: { kind: "text", makes: "compactions" },
};
