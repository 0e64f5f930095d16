import { GatewayError } from "../../canon/error.ts";

/** The share of one key, so that others still get through. */
const SHARE_OF_ONE_KEY = 0.5;
/** A smaller call is not counted against its key, which saves a map lookup. */
const LARGE = 1024 * 1024;

const MEGABYTE = 1024 * 1024;

/** Of a smaller body, what is left afterwards is like that of any call: the runtime collects it in time. */
const SMALL = 32 * 1024;
/**
 * After so much of the limit was released, what is left of those bodies is collected. With 16 requests of 300 KB at once: every 8 MB
 * 194 MB and 1.4 × the CPU, 12 MB 204 MB and 1.2 ×, 16 MB 212 MB and 1.1 ×, 32 MB 240 MB and no more CPU, never 330 MB and more.
 */
const COLLECTED_SHARE = 1 / 32;
const LEAST_COLLECTED = 12 * MEGABYTE;

/** Who a call belongs to. */
export interface MemoryOwner {
  keyId: string;
  keyName: string;
}

/** There is no memory for this call now. This is not the offer's fault, so no other is tried. */
export class MemoryExhaustedError extends GatewayError {}

/**
 * One limit on the memory of all calls: request bodies and provider responses, counted as they arrive (S17, S23). Nothing waits for
 * memory: what does not fit is rejected at once, so that calls never block each other.
 */
export class MemoryBudget {
  readonly maxBytes: number;
  #held = 0;
  /** Only of keys with large calls in flight. */
  readonly #byKey = new Map<string, number>();
  readonly #collect: () => void;
  readonly #collectedBytes: number;
  /** Released since the last collection. */
  #released = 0;

  /**
   * `collect` collects garbage. A body leaves several times its size behind, and the runtime lets that grow to a multiple of what is
   * in use (decision 0135).
   */
  constructor(maxBytes: number, collect: () => void = () => {}) {
    this.maxBytes = maxBytes;
    this.#collect = collect;
    this.#collectedBytes = Math.max(LEAST_COLLECTED, maxBytes * COLLECTED_SHARE);
  }

  /** What all calls hold now, in bytes. */
  get held(): number {
    return this.#held;
  }

  /** An account for one call. */
  open(owner: MemoryOwner): HeldMemory {
    return new HeldMemory(this, owner);
  }

  /** For HeldMemory only. `large` counts against the key. */
  take(bytes: number, large: number, { keyId, keyName }: MemoryOwner): void {
    if (this.#held + bytes > this.maxBytes) {
      throw new MemoryExhaustedError("overloaded", "The gateway has reached its memory limit. Try again.", {
        code: "memory_exhausted",
        retryAfterSeconds: 1,
      });
    }
    if (large > 0) {
      const ofKey = (this.#byKey.get(keyId) ?? 0) + large;
      const share = this.maxBytes * SHARE_OF_ONE_KEY;
      if (ofKey > share) {
        const message = `In-flight requests of the key "${keyName}" use ${Math.round(share / MEGABYTE)} MB of memory, which is the limit for one key. Try again when some of them have finished.`;
        throw new MemoryExhaustedError("rate_limited", message, { retryAfterSeconds: 1 });
      }
      this.#byKey.set(keyId, ofKey);
    }
    this.#held += bytes;
  }

  /** For HeldMemory only. */
  giveBack(bytes: number, large: number, { keyId }: MemoryOwner): void {
    this.#held -= bytes;
    if (bytes > SMALL) this.#note(bytes);
    if (large === 0) return;
    const left = (this.#byKey.get(keyId) ?? 0) - large;
    if (left > 0) this.#byKey.set(keyId, left);
    else this.#byKey.delete(keyId);
  }

  #note(bytes: number): void {
    this.#released += bytes;
    if (this.#released < this.#collectedBytes) return;
    this.#released = 0;
    this.#collect();
  }
}

/** What one call holds. */
export class HeldMemory {
  readonly #budget: MemoryBudget;
  readonly #owner: MemoryOwner;
  #bytes = 0;
  /** What of it is counted against the key. */
  #large = 0;

  constructor(budget: MemoryBudget, owner: MemoryOwner) {
    this.#budget = budget;
    this.#owner = owner;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts memory before the call holds it. Throws MemoryExhaustedError, and counts nothing, if that is too much. */
  add(bytes: number): void {
    const total = this.#bytes + bytes;
    const large = total >= LARGE ? total - this.#large : 0;
    this.#budget.take(bytes, large, this.#owner);
    this.#bytes = total;
    this.#large += large;
  }

  /** Releases this much, or everything. Safe to call more than once. */
  release(bytes = this.#bytes): void {
    const given = Math.min(bytes, this.#bytes);
    const large = Math.min(given, this.#large);
    this.#bytes -= given;
    this.#large -= large;
    this.#budget.giveBack(given, large, this.#owner);
  }
}
