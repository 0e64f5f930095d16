import type { DialectName } from "../canon/dialect-name.ts";
import type { ModelKind } from "./model.ts";

const BY_KIND: Readonly<Record<ModelKind, readonly DialectName[]>> = {
  text: ["chat", "messages", "genai", "responses", "interactions"],
  image: ["chat", "genai", "responses"],
  video: ["genai"],
  embedding: ["chat", "genai"],
  rerank: ["chat"],
  speech: ["chat"],
  transcription: ["chat"],
  moderation: ["chat"],
};

/** The protocols that have an endpoint for models of a kind. */
export const protocolsFor = (kind: ModelKind): readonly DialectName[] => BY_KIND[kind];
