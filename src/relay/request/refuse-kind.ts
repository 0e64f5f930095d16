import { GatewayError } from "../../canon/error.ts";
import type { Model, ModelKind } from "../../catalogue/model.ts";

/** The endpoints of models that do not serve conversations, by kind. */
const INSTEAD: Readonly<Partial<Record<ModelKind, (id: string) => string>>> = {
  video: (id) =>
    `generates videos, not text; submit a job with POST …/${id.replace("/", "/models/")}:predictLongRunning`,
  embedding: () => "generates embeddings, not text; use POST /v1/embeddings",
  rerank: () => "ranks documents; use POST /v1/rerank",
  speech: () => "generates speech, not text; use POST /v1/audio/speech",
  transcription: () => "transcribes audio; use POST /v1/audio/transcriptions",
  moderation: () => "moderates text; use POST /v1/moderations",
};

/** Rejects a conversation with a model that produces neither text nor images. */
export function refuseKind({ id, kind }: Pick<Model, "id" | "kind">): void {
  const instead = INSTEAD[kind];
  if (instead === undefined) return;
  throw new GatewayError("invalid_request", `${id} ${instead(id)}.`, { path: "model", code: "model_not_supported" });
}
