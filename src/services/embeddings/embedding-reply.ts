import type { Usage } from "../../canon/usage.ts";

/** As its host sent it: numbers, or 32-bit floats (little-endian) in base64. It is converted only where the client wants the other. */
export type EmbeddingVector = readonly number[] | string;

export interface EmbeddingReply {
  /** In the order of the inputs. */
  vectors: readonly EmbeddingVector[];
  /** Absent where the host does not say. */
  usage?: Usage;
}
