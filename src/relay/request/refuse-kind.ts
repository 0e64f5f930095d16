import { GatewayError } from "../../canon/error.ts";
import type { Model, ModelKind } from "../../catalogue/model.ts";

/** How models are called that answer no conversation, by their kind. */
const INSTEAD: Readonly<Partial<Record<ModelKind, (id: string) => string>>> = {
  video: (id) =>
    `makes videos, which take minutes: submit one with POST …/${id.replace("/", "/models/")}:predictLongRunning`,
  embedding: () => "makes embeddings: ask for them with POST /v1/embeddings",
  rerank: () => "ranks documents: send them with POST /v1/rerank",
  speech: () => "speaks: send it a text with POST /v1/audio/speech",
  transcription: () => "transcribes recordings: send one with POST /v1/audio/transcriptions",
  moderation: () => "moderates: send it a text with POST /v1/moderations",
};

/** Refuses a conversation with a model that answers in neither text nor images. */
export function refuseKind({ id, kind }: Pick<Model, "id" | "kind">): void {
  const instead = INSTEAD[kind];
  if (instead === undefined) return;
  throw new GatewayError("invalid_request", `${id} ${instead(id)}.`, { path: "model", code: "model_not_supported" });
}
