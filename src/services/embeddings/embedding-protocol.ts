import type { JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Usage } from "../../canon/usage.ts";
import type { EmbeddingCall, EmbeddingField } from "./embedding-call.ts";
import type { EmbeddingVector } from "./embedding-reply.ts";

/** A request for embeddings as its protocol reads it. */
export interface EmbeddingRequest {
  call: EmbeddingCall;
  /** The encoding of the vectors in the response. */
  encoding: "float" | "base64";
  notes: readonly FieldNote[];
  /** The client's names of fields. */
  paths: Readonly<Record<EmbeddingField, string>>;
}

/** All vectors of a call, in the order of its inputs. */
export interface EmbeddingAnswer {
  vectors: readonly EmbeddingVector[];
  /** As the provider reports it, or estimated. */
  usage: Usage;
  /** The model's name in the response. */
  model: string;
}

/** A client protocol for embeddings. */
export interface EmbeddingProtocol {
  /** Throws a GatewayError with the path of the first problem found. */
  decode(body: JsonObject): EmbeddingRequest;
  /** The text of the response, vector by vector: thousands of them take tens of megabytes. */
  encode(answer: EmbeddingAnswer, request: EmbeddingRequest): Generator<string>;
}
