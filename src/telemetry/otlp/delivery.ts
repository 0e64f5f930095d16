import type { Clock } from "../../base/clock.ts";
import { parseObject } from "../../base/json.ts";

/** What is sent to a collector. */
export interface PostedPayload {
  url: string;
  body: string | Uint8Array<ArrayBuffer>;
}

/** The relevant part of its response. */
export interface PostAnswer {
  status: number;
  retryAfter: string | null;
  /** The beginning of its body. */
  body: string;
}

/** Sends a payload; rejects if there is no response in time. Does not follow redirects. */
export type Post = (payload: PostedPayload) => Promise<PostAnswer>;

type Delivered =
  | {
      outcome: "taken";
      /** How many of its parts the collector rejected. */
      rejected: number;
      reason: string;
    }
  | { outcome: "given up"; reason: string };

/** Statuses that the standard says to retry. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_TRIES = 5;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** Delivers a payload with a few retries. Never rejects. */
export async function deliver(
  post: Post,
  payload: PostedPayload,
  clock: Clock,
  mayWait: () => boolean,
): Promise<Delivered> {
  let reason = "";
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    let asked = 0;
    try {
      const answer = await post(payload);
      if (answer.status >= 200 && answer.status < 300) return { outcome: "taken", ...rejectedIn(answer.body) };
      reason = `HTTP ${answer.status}`;
      if (!AGAIN.has(answer.status)) break;
      asked = Number(answer.retryAfter ?? 0) * 1000 || 0;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (tries === MAX_TRIES || !mayWait()) break;
    const usualMs = FIRST_PAUSE_MS * 2 ** (tries - 1);
    await clock.sleep(Math.min(MAX_PAUSE_MS, Math.max(usualMs, asked)));
  }
  return { outcome: "given up", reason };
}

/** A collector may report that it accepted only part of a request; other responses are ignored. */
function rejectedIn(body: string): { rejected: number; reason: string } {
  const partial = parseObject(body)?.["partialSuccess"];
  if (typeof partial !== "object" || partial === null) return { rejected: 0, reason: "" };
  const { rejectedSpans, rejectedDataPoints, errorMessage } = partial as Record<string, unknown>;
  const rejected = Number(rejectedSpans ?? rejectedDataPoints ?? 0);
  return {
    rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0,
    reason: typeof errorMessage === "string" ? errorMessage.slice(0, 200) : "",
  };
}
