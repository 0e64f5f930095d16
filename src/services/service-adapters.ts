import type { ApiHosts } from "../media/adapter.ts";
import type { CacheAdapter } from "./cache/cache-adapter.ts";
import type { CompactionAdapter } from "./compaction/compaction-adapter.ts";
import type { CompletionAdapter } from "./completion/completion-adapter.ts";
import type { EmbeddingAdapter } from "./embeddings/embedding-adapter.ts";
import type { ModerationAdapter } from "./moderation/moderation-adapter.ts";
import type { RerankAdapter } from "./rerank/rerank-adapter.ts";
import type { SpeechAdapter } from "./speech/speech-adapter.ts";
import type { TranscriptionAdapter } from "./transcription/transcription-adapter.ts";

/** The services other than conversations, images and videos, each with its own adapters. The name is the verb of the receipt. */
export interface ServiceAdapters {
  embeddings: EmbeddingAdapter;
  rerank: RerankAdapter;
  speech: SpeechAdapter;
  transcriptions: TranscriptionAdapter;
  translations: TranscriptionAdapter;
  moderations: ModerationAdapter;
  completions: CompletionAdapter;
  compactions: CompactionAdapter;
  caches: CacheAdapter;
}

export type ServiceName = keyof ServiceAdapters;

/** Several adapters where models differ; the first that serves a model is used. */
export type DeclaredAdapters = { readonly [Name in ServiceName]?: readonly ServiceAdapters[Name][] };

/** The services of a provider. */
export type ServiceDeclaration = ApiHosts & DeclaredAdapters;
