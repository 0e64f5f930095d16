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
  /** No client waits for it: calls of clients come first. */
  readonly isBelow?: boolean;
}

/** The part of the slots that calls may take which no client waits for. The rest stays free for clients. */
const SHARE_BELOW = 0.75;

/**
 * Limits concurrent requests, per provider and in total, and queues calls that wait for a slot. The queue is short and bounded: a
 * call that does not fit is rejected at once with a retry time, and one whose client disconnects never reaches a provider.
 */
export class Slots {
  readonly #clock: Clock;
  #running = 0;
  readonly #runningAt = new Map<string, number>();
  readonly #queue = new TurnQueue();
  /** As many as lines of batches can run. */
  readonly #below = new TurnQueue();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#queue.size;
  }

  runningAt(provider: string): number {
    return this.#runningAt.get(provider) ?? 0;
  }

  /** Takes a slot if one is free. Waiting calls come first at their providers. */
  take(provider: string, limits: SlotLimits, isBelow = false): boolean {
    if (!this.#isFree(provider, limits, isBelow) || this.#queue.isAwaited(provider)) return false;
    if (isBelow && this.#below.isAwaited(provider)) return false;
    this.#add(provider);
    return true;
  }

  /** The request has ended. */
  free(provider: string): void {
    const left = this.runningAt(provider) - 1;
    if (left > 0) this.#runningAt.set(provider, left);
    else this.#runningAt.delete(provider);
    this.#running--;
    this.#queue.serve((request) => this.#give(request));
    this.#below.serve((request) => this.#give(request));
  }

  /**
   * Waits for a slot and returns its provider. Throws if the queue is full or the wait expires; undefined if the client has
   * disconnected.
   */
  wait(request: SlotRequest): Promise<string | undefined> {
    const { maxQueue } = request.limits.overload;
    if (!request.isBelow && this.#queue.size >= maxQueue)
      return Promise.reject(busy(request, `the queue (limit ${maxQueue}) is full`));
    const queue = request.isBelow ? this.#below : this.#queue;
    const waiting = new Waiting(request, (ended) => queue.forget(ended));
    queue.add(waiting);
    waiting.begin(this.#clock);
    return waiting.slot;
  }

  #isFree(provider: string, limits: SlotLimits, isBelow: boolean): boolean {
    return (
      this.#running < capacity(limits.overload.maxConcurrent, isBelow) &&
      this.runningAt(provider) < capacity(limits.ofProvider(provider).maxConcurrent, isBelow)
    );
  }

  #add(provider: string): void {
    this.#running++;
    this.#runningAt.set(provider, this.runningAt(provider) + 1);
  }

  /** Takes a slot for a waiting call. Undefined if there is none. */
  #give({ providers, limits, isBelow = false }: SlotRequest): string | undefined {
    const provider = providers.find(
      (name) => this.#isFree(name, limits, isBelow) && !(isBelow && this.#queue.isAwaited(name)),
    );
    if (provider !== undefined) this.#add(provider);
    return provider;
  }
}

const capacity = (limit: number | undefined, isBelow: boolean): number =>
  limit === undefined ? Number.POSITIVE_INFINITY : isBelow ? Math.max(1, Math.floor(limit * SHARE_BELOW)) : limit;

/** Calls that wait, by key, in the order of their turns; the calls of a key in order of arrival. */
class TurnQueue {
  readonly #waiting = new Map<string, Waiting[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  isAwaited(provider: string): boolean {
    if (this.#size === 0) return false;
    for (const ofKey of this.#waiting.values())
      for (const { request } of ofKey) if (request.providers.includes(provider)) return true;
    return false;
  }

  add(waiting: Waiting): void {
    const { keyId } = waiting.request;
    const ofKey = this.#waiting.get(keyId);
    if (ofKey === undefined) this.#waiting.set(keyId, [waiting]);
    else ofKey.push(waiting);
    this.#size++;
  }

  /** Gives free slots to waiting calls, key by key. */
  serve(give: (request: SlotRequest) => string | undefined): void {
    for (let served = true; served && this.#size > 0; ) {
      served = false;
      for (const [keyId, ofKey] of this.#waiting) {
        if (!serveOne(ofKey, give)) continue;
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

  forget(waiting: Waiting): void {
    const { keyId } = waiting.request;
    const ofKey = this.#waiting.get(keyId) ?? [];
    ofKey.splice(ofKey.indexOf(waiting), 1);
    if (ofKey.length === 0) this.#waiting.delete(keyId);
    this.#size--;
  }
}

function serveOne(ofKey: readonly Waiting[], give: (request: SlotRequest) => string | undefined): boolean {
  for (const waiting of ofKey) {
    const provider = give(waiting.request);
    if (provider === undefined) continue;
    waiting.end(provider);
    return true;
  }
  return false;
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
