import type { JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Usage } from "../../canon/usage.ts";
import type { EmbeddingCall, EmbeddingField } from "./embedding-call.ts";
import type { EmbeddingVector } from "./embedding-reply.ts";

/** A request for embeddings as its protocol reads it. */
export interface EmbeddingRequest {
  /** Where the body names it. */
  model?: string;
  call: EmbeddingCall;
  /** How the client wants its vectors written. */
  encoding: "float" | "base64";
  notes: readonly FieldNote[];
  /** The client's names of fields. */
  paths: Readonly<Record<EmbeddingField, string>>;
}

/** All vectors of a call, in the order of its inputs. */
export interface EmbeddingAnswer {
  vectors: readonly EmbeddingVector[];
  /** By the provider, or else estimated. */
  usage: Usage;
  /** What the answer calls the model. */
  model: string;
}

/** One of the forms in which a client asks for embeddings and is answered. */
export interface EmbeddingProtocol {
  /** Throws a GatewayError with the path of the first problem found. */
  decode(body: JsonObject): EmbeddingRequest;
  /** The text of the answer, vector by vector: thousands of them are tens of megabytes. */
  encode(answer: EmbeddingAnswer, request: EmbeddingRequest): Generator<string>;
}
