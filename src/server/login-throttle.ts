import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../canon/error.ts";
import { networkOf } from "./failure-throttle.ts";

/** Wrong secrets that an address may send before it has to wait. */
const FREE_FAILURES = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** The failures of an address are forgotten after this long without another one. */
const MEMORY_MS = 600_000;
/** Addresses that are counted separately; all others share one count. */
const MAX_ADDRESSES = 10_000;

interface Failures {
  count: number;
  atMs: number;
}

/**
 * Limits guessing secrets at the login (S21): after five wrong ones an address waits, twice as long after each further
 * one, and its requests until then are refused unread. The secret as a bearer token still works in the meantime.
 */
export class LoginThrottle {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws while the address has to wait. */
  check(address: string): void {
    const known = this.#known(this.#counted(address));
    if (known === undefined || known.count < FREE_FAILURES) return;
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (known.count - FREE_FAILURES));
    const leftMs = known.atMs + waitMs - this.#clock.nowMs();
    if (leftMs <= 0) return;
    const seconds = Math.ceil(leftMs / 1000);
    throw new GatewayError("rate_limited", `Too many wrong secrets from this address. Try again in ${seconds} s.`, {
      code: "too_many_logins",
      retryAfterSeconds: seconds,
    });
  }

  failed(address: string): void {
    const counted = this.#counted(address);
    const count = (this.#known(counted)?.count ?? 0) + 1;
    this.#failures.delete(counted);
    this.#failures.set(counted, { count, atMs: this.#clock.nowMs() });
  }

  succeeded(address: string): void {
    this.#failures.delete(networkOf(address));
  }

  #counted(address: string): string {
    const network = networkOf(address);
    if (this.#failures.has(network) || this.#failures.size < MAX_ADDRESSES) return network;
    // The map is in the order of the last failures, so the first may be over.
    const [first = ""] = this.#failures.keys();
    return this.#known(first) === undefined ? network : "";
  }

  #known(network: string): Failures | undefined {
    const found = this.#failures.get(network);
    if (found === undefined || this.#clock.nowMs() - found.atMs < MEMORY_MS) return found;
    this.#failures.delete(network);
    return undefined;
  }
}
