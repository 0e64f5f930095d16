import type { ModelKind } from "../catalogue/model.ts";
import type { ServiceName } from "../services/service-adapters.ts";

interface ServedKind {
  kind: ModelKind;
  makes: string;
  /** The dialect that a host must speak to offer it, if it is part of that API. */
  dialect?: string;
  /** What serves the same purpose at other providers. */
  instead?: string;
}

/** The kind of model that each service needs, and what it produces. */
export const SERVED_KINDS: Readonly<Record<ServiceName, ServedKind>> = {
  embeddings: { kind: "embedding", makes: "embeddings" },
  rerank: { kind: "rerank", makes: "rankings" },
  speech: { kind: "speech", makes: "speech" },
  transcriptions: { kind: "transcription", makes: "transcriptions" },
  translations: { kind: "transcription", makes: "translations" },
  moderations: { kind: "moderation", makes: "moderations" },
  completions: { kind: "text", makes: "completions" },
  compactions: { kind: "text", makes: "compactions", dialect: "responses" },
  caches: {
    kind: "text",
    makes: "caches",
    dialect: "genai",
    instead: "Mark what to cache with `cache_control` in each request, or send the whole prompt.",
  },
};
