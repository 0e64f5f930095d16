import type { Clock } from "../base/clock.ts";

/** How many refusals for a wrong credential an IP address gets without delay in each window. */
const FREE_FAILURES = 100;
const WINDOW_MS = 60_000;
/** The delay of each further refusal. */
const DELAY_MS = 1_000;
/** Addresses that are counted separately; all others share one count. */
const MAX_ADDRESSES = 10_000;
/**
 * The most delayed responses at a time. Beyond that, responses are sent at once, so that delays do not become a load
 * themselves.
 */
const MAX_WAITING = 1_000;

/**
 * Slows down guessing (S21). Only refusals are delayed, never a valid credential: clients that share an IP address,
 * such as a proxy's, do not slow each other down. A connection has one request at a time, so it can guess once a
 * second.
 */
export class FailureThrottle {
  readonly #clock: Clock;
  #windowEndsMs = 0;
  readonly #failures = new Map<string, number>();
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a refusal may be sent to this IP address. */
  async failed(address: string): Promise<void> {
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#windowEndsMs) {
      this.#failures.clear();
      this.#windowEndsMs = nowMs + WINDOW_MS;
    }
    const network = networkOf(address);
    const counted = this.#failures.has(network) || this.#failures.size < MAX_ADDRESSES ? network : "";
    const failures = (this.#failures.get(counted) ?? 0) + 1;
    this.#failures.set(counted, failures);
    if (failures <= FREE_FAILURES || this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    await this.#clock.sleep(DELAY_MS);
    this.#waiting--;
  }
}

/** The holder of one IPv6 address usually has all 2^64 of its network. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":");
  if (tail !== undefined) while (groups.length < 4) groups.push("0");
  return groups.slice(0, 4).join(":");
}
