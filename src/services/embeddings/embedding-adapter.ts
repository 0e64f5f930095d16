import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { EmbeddingBatch, EmbeddingField, EmbeddingTask } from "./embedding-call.ts";
import type { EmbeddingReply } from "./embedding-reply.ts";

/** What a model accepts at its host. */
export interface EmbeddingCapabilities {
  /** The most inputs of one request. */
  maxInputs: number;
  /** The most tokens of one request, about. */
  maxTokens?: number;
  /** Fields that it honours; of `task` only those in `tasks`. */
  takes: readonly EmbeddingField[];
  /** The host's names for tasks; those in `nearest` are only similar. */
  tasks?: Partial<Record<EmbeddingTask, string>>;
  nearest?: Partial<Record<EmbeddingTask, string>>;
  /** Inputs may be tokens. */
  tokens?: true;
}

export interface EmbeddingAdapter extends ServiceAdapter {
  capabilities: (model: string) => EmbeddingCapabilities;
  submit: (batch: EmbeddingBatch, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError if a 2xx contains an error, or no vector for each input. */
  read: (answer: MediaAnswer, batch: EmbeddingBatch) => EmbeddingReply;
}
