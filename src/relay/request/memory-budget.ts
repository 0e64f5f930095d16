import { GatewayError } from "../../canon/error.ts";

/** What one key may hold of the whole: the others must get through beside it. */
const SHARE_OF_ONE_KEY = 0.5;
/** A call that holds less than this is not counted against its key: it costs two additions, and no look into a map. */
const LARGE = 1024 * 1024;

const MEGABYTE = 1024 * 1024;

/** Who a call belongs to. */
export interface MemoryOwner {
  keyId: string;
  keyName: string;
}

/** There is no memory for this call now. It says nothing of an offer: none is tried again because of it. */
export class MemoryExhaustedError extends GatewayError {}

/**
 * One bound over what all calls hold in memory: request bodies and the answers of providers, counted as they come over the wire
 * (S17, S23). Nothing waits for it: what does not fit is refused at once, so that calls can never block each other.
 */
export class MemoryBudget {
  readonly maxBytes: number;
  #held = 0;
  /** Of keys with large calls under way alone. */
  readonly #byKey = new Map<string, number>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** What all calls hold now, in bytes. */
  get held(): number {
    return this.#held;
  }

  /** An account for one call. */
  open(owner: MemoryOwner): HeldMemory {
    return new HeldMemory(this, owner);
  }

  /** For HeldMemory alone. `large` is what of it counts against the key. */
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

  /** For HeldMemory alone. */
  giveBack(bytes: number, large: number, { keyId }: MemoryOwner): void {
    this.#held -= bytes;
    if (large === 0) return;
    const left = (this.#byKey.get(keyId) ?? 0) - large;
    if (left > 0) this.#byKey.set(keyId, left);
    else this.#byKey.delete(keyId);
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

  /** Counts what the call is about to hold; throws MemoryExhaustedError where that is too much, and then counts nothing. */
  add(bytes: number): void {
    const total = this.#bytes + bytes;
    const large = total >= LARGE ? total - this.#large : 0;
    this.#budget.take(bytes, large, this.#owner);
    this.#bytes = total;
    this.#large += large;
  }

  /** The call holds this much less; without a figure, nothing any more. May be called more than once. */
  release(bytes = this.#bytes): void {
    const given = Math.min(bytes, this.#bytes);
    const large = Math.min(given, this.#large);
    this.#bytes -= given;
    this.#large -= large;
    this.#budget.giveBack(given, large, this.#owner);
  }
}
