import type { Usage } from "../../canon/usage.ts";

/** As the host sent it: numbers, or 32-bit floats (little-endian) in base64. Converted only if the client requests the other. */
export type EmbeddingVector = readonly number[] | string;

export interface EmbeddingReply {
  /** In the order of the inputs. */
  vectors: readonly EmbeddingVector[];
  /** Absent if the host does not report it. */
  usage?: Usage;
}
