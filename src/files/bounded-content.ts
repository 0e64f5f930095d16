import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { GatewayError } from "../canon/error.ts";
import { chunksOf } from "./chunks.ts";
import type { FileContent } from "./file-store.ts";

interface ContentBounds {
  maxBytes: number;
  /** How long the source may be silent between two chunks. */
  stallMs?: number;
  /** How long the whole may take; default: the limit for writing a file. */
  limitMs?: number;
}

const STALL_MS = 60_000;

/**
 * The time limit for writing a file. It is shorter than the time after which a file without a row is considered
 * orphaned.
 */
export const WRITE_LIMIT_MS = 30 * 60_000;

/** The chunks of a content, within limits of size and time. An abandoned source is cancelled. */
export async function* boundedContent(
  content: FileContent,
  bounds: ContentBounds,
  clock: Clock,
): AsyncGenerator<Uint8Array, void> {
  const { maxBytes, stallMs = STALL_MS, limitMs = WRITE_LIMIT_MS } = bounds;
  const deadlineMs = clock.nowMs() + limitMs;
  const chunks = chunksOf(content);
  let size = 0;
  let ended = false;
  try {
    for (;;) {
      const leftMs = Math.max(0, Math.min(stallMs, deadlineMs - clock.nowMs()));
      const chunk = await withTimeout(chunks.next(), leftMs, clock, stalled);
      ended = chunk === undefined;
      if (chunk === undefined) return;
      size += chunk.length;
      if (size > maxBytes) {
        throw new GatewayError("too_large", `The file is larger than ${maxBytes} bytes, the maximum size of a file.`);
      }
      yield chunk;
    }
  } finally {
    if (!ended) chunks.cancel();
  }
}

const stalled = () => new GatewayError("upstream_timeout", "The content of a file stopped arriving, or took too long.");
