import type { Cancel, Clock } from "../base/clock.ts";
import { GatewayError } from "../canon/error.ts";
import type { OverloadSettings } from "../canon/routing-settings.ts";

/** The limits on running and waiting calls. */
export interface SlotLimits {
  readonly overload: OverloadSettings;
  ofProvider(name: string): { readonly maxConcurrent: number | undefined };
}

/** A request for a slot at the first of these providers that has one. */
export interface SlotRequest {
  readonly providers: readonly string[];
  /** Keys take turns, so a busy key only delays itself. */
  readonly keyId: string;
  readonly limits: SlotLimits;
  /** The maximum wait. */
  readonly withinMs: number;
  /** Resolves when the client disconnects, which ends the wait. */
  readonly disconnection: Promise<void>;
}

/**
 * Limits concurrent requests, per provider and in total, and queues calls that wait for a slot. The queue is short and bounded: a
 * call that does not fit is rejected at once with a retry time, and one whose client disconnects never reaches a provider.
 */
export class Slots {
  readonly #clock: Clock;
  #running = 0;
  readonly #runningAt = new Map<string, number>();
  /** By key, in the order of their turns; the calls of a key in order of arrival. */
  readonly #waiting = new Map<string, Waiting[]>();
  #queued = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#queued;
  }

  runningAt(provider: string): number {
    return this.#runningAt.get(provider) ?? 0;
  }

  /** Takes a slot if one is free. Waiting calls come first at their providers. */
  take(provider: string, limits: SlotLimits): boolean {
    if (!this.#isFree(provider, limits) || this.#isAwaited(provider)) return false;
    this.#add(provider);
    return true;
  }

  /** The request has ended. */
  free(provider: string): void {
    const left = this.runningAt(provider) - 1;
    if (left > 0) this.#runningAt.set(provider, left);
    else this.#runningAt.delete(provider);
    this.#running--;
    this.#serve();
  }

  /**
   * Waits for a slot and returns its provider. Throws if the queue is full or the wait expires; undefined if the client has
   * disconnected.
   */
  wait(request: SlotRequest): Promise<string | undefined> {
    const { maxQueue } = request.limits.overload;
    if (this.#queued >= maxQueue) return Promise.reject(busy(request, `the queue (limit ${maxQueue}) is full`));
    const waiting = new Waiting(request, (ended) => this.#forget(ended));
    const ofKey = this.#waiting.get(request.keyId);
    if (ofKey === undefined) this.#waiting.set(request.keyId, [waiting]);
    else ofKey.push(waiting);
    this.#queued++;
    waiting.begin(this.#clock);
    return waiting.slot;
  }

  #isFree(provider: string, limits: SlotLimits): boolean {
    const { overload } = limits;
    const { maxConcurrent = Number.POSITIVE_INFINITY } = limits.ofProvider(provider);
    return (
      this.#running < (overload.maxConcurrent ?? Number.POSITIVE_INFINITY) && this.runningAt(provider) < maxConcurrent
    );
  }

  #isAwaited(provider: string): boolean {
    if (this.#queued === 0) return false;
    for (const ofKey of this.#waiting.values())
      for (const { request } of ofKey) if (request.providers.includes(provider)) return true;
    return false;
  }

  #add(provider: string): void {
    this.#running++;
    this.#runningAt.set(provider, this.runningAt(provider) + 1);
  }

  /** Gives free slots to waiting calls, key by key. */
  #serve(): void {
    for (let served = true; served && this.#queued > 0; ) {
      served = false;
      for (const [keyId, ofKey] of this.#waiting) {
        if (!this.#serveOne(ofKey)) continue;
        // Its turn is over; the other keys come first now.
        const left = this.#waiting.get(keyId);
        if (left !== undefined) {
          this.#waiting.delete(keyId);
          this.#waiting.set(keyId, left);
        }
        served = true;
        break;
      }
    }
  }

  #serveOne(ofKey: readonly Waiting[]): boolean {
    for (const waiting of ofKey) {
      const provider = waiting.request.providers.find((name) => this.#isFree(name, waiting.request.limits));
      if (provider === undefined) continue;
      this.#add(provider);
      waiting.end(provider);
      return true;
    }
    return false;
  }

  #forget(waiting: Waiting): void {
    const { keyId } = waiting.request;
    const ofKey = this.#waiting.get(keyId) ?? [];
    ofKey.splice(ofKey.indexOf(waiting), 1);
    if (ofKey.length === 0) this.#waiting.delete(keyId);
    this.#queued--;
  }
}

/** One call in the queue. */
class Waiting {
  readonly request: SlotRequest;
  readonly #forget: (waiting: Waiting) => void;
  readonly #slot = Promise.withResolvers<string | undefined>();
  #cancel: Cancel = () => {};
  #ended = false;

  constructor(request: SlotRequest, forget: (waiting: Waiting) => void) {
    this.request = request;
    this.#forget = forget;
  }

  get slot(): Promise<string | undefined> {
    return this.#slot.promise;
  }

  begin(clock: Clock): void {
    const { limits, withinMs, disconnection } = this.request;
    const waitMs = Math.min(limits.overload.queueMs, withinMs);
    this.#cancel = clock.after(waitMs, () => {
      this.#leave();
      this.#slot.reject(busy(this.request, `none finished within ${waitMs} ms`));
    });
    void disconnection.then(() => {
      if (!this.#ended) this.end(undefined);
    });
  }

  end(provider: string | undefined): void {
    this.#leave();
    this.#slot.resolve(provider);
  }

  #leave(): void {
    this.#ended = true;
    this.#cancel();
    this.#forget(this);
  }
}

const MIN_RETRY_SECONDS = 1;

function busy({ providers, limits }: SlotRequest, why: string): GatewayError {
  const names = [...new Set(providers)].join(", ");
  return new GatewayError(
    "overloaded",
    `The limit on concurrent requests to ${names}, or to all providers together, is reached, and ${why}. Try again in a moment.`,
    { retryAfterSeconds: Math.max(MIN_RETRY_SECONDS, Math.ceil(limits.overload.queueMs / 1000)) },
  );
}
