import type { Clock } from "../base/clock.ts";

interface KeptCopyOptions<Value> {
  clock: Clock;
  /** Ends in time, with a value or an error. */
  load: () => Promise<Value>;
  /** After this it is loaded again, while the copy is used. */
  freshMs: number;
  /** After this without a new copy it is used no longer. */
  keptMs: number;
  /** The shortest time between two loads. */
  restMs: number;
}

/** A copy of something at another host, which may be away, slow or lying: it is asked seldom, and by one request at a time. */
export class KeptCopy<Value> {
  readonly #options: KeptCopyOptions<Value>;
  #copy: { value: Value; atMs: number } | undefined;
  #loading: Promise<Value> | undefined;
  #triedMs = Number.NEGATIVE_INFINITY;
  #failure: { cause: unknown } | undefined;

  constructor(options: KeptCopyOptions<Value>) {
    this.#options = options;
  }

  /** Why the last load failed; undefined if it succeeded, or there was none. */
  get failure(): { cause: unknown } | undefined {
    return this.#failure;
  }

  async get(): Promise<Value> {
    const { clock, freshMs, keptMs } = this.#options;
    const copy = this.#copy;
    const ageMs = copy === undefined ? Number.POSITIVE_INFINITY : clock.nowMs() - copy.atMs;
    if (copy !== undefined && ageMs < freshMs) return copy.value;
    if (copy === undefined || ageMs >= keptMs) return this.#loadOrFail();
    if (this.#mayTry()) this.#load().catch(() => {});
    return copy.value;
  }

  /** A newer copy, for someone who misses something in this one; the same if it was loaded a moment ago, or cannot be loaded. */
  async renewed(): Promise<Value> {
    if (this.#loading === undefined && !this.#mayTry()) return this.get();
    try {
      return await this.#load();
    } catch {
      return this.get();
    }
  }

  #loadOrFail(): Promise<Value> {
    if (this.#loading === undefined && !this.#mayTry() && this.#failure !== undefined) throw this.#failure.cause;
    return this.#load();
  }

  #mayTry(): boolean {
    return this.#options.clock.nowMs() - this.#triedMs >= this.#options.restMs;
  }

  #load(): Promise<Value> {
    this.#loading ??= this.#loadOnce().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #loadOnce(): Promise<Value> {
    const { clock, load } = this.#options;
    try {
      const value = await load();
      this.#copy = { value, atMs: clock.nowMs() };
      this.#failure = undefined;
      return value;
    } catch (cause) {
      this.#failure = { cause };
      throw cause;
    } finally {
      this.#triedMs = clock.nowMs();
    }
  }
}
