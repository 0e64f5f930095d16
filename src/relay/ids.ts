import { timePrefix } from "../base/timed-id.ts";

const RANDOM_BYTES = 16;
const POOL = RANDOM_BYTES * 512;

const pool = Buffer.alloc(POOL);
let used = POOL;

/** 22 characters that nobody can guess. The random bytes are drawn in bulk, because every call needs several ids. */
export function makeId(): string {
  if (used === POOL) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  used += RANDOM_BYTES;
  return pool.toString("base64url", used - RANDOM_BYTES, used);
}

/** As unguessable, and in the order of time: ids that are keys of a growing table are cheapest to insert at its end. */
export function makeTimedId(nowMs: number): string {
  return timePrefix(nowMs) + makeId();
}
