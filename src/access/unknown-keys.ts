import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { GatewayError } from "../canon/error.ts";

/** How long a key that the storage does not have is refused without asking again. */
const REFUSED_MS = 1_000;
/** The most keys that are remembered as unknown. Of more than that, some are asked for again. */
const MAX_REFUSED = 20_000;
/** The most keys that wait at one time. */
const MAX_ASKED = 1_000;
/** A storage that takes longer is as good as none: the client may try again. */
const ANSWER_MS = 3_000;

/** Asks the storage for keys that this process does not know, before it refuses them: another may have just made them. */
export class UnknownKeys {
  readonly #clock: Clock;
  /** Digests that the storage did not have, of this second and of the one before. */
  #recent = new Set<string>();
  #older = new Set<string>();
  #turnsMs = Number.NEGATIVE_INFINITY;
  readonly #asked = new Map<string, Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves at once if it was asked for within a second. `lookUp` serves many keys at once. */
  ask(digest: string, lookUp: () => Promise<void>): Promise<void> | undefined {
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#turnsMs || this.#recent.size >= MAX_REFUSED / 2) {
      this.#older = nowMs >= this.#turnsMs + REFUSED_MS ? new Set() : this.#recent;
      this.#recent = new Set();
      this.#turnsMs = nowMs + REFUSED_MS;
    }
    if (this.#recent.has(digest) || this.#older.has(digest)) return undefined;
    const asked = this.#asked.get(digest);
    if (asked !== undefined) return asked;
    if (this.#asked.size >= MAX_ASKED) throw tooMany();
    const asking = withTimeout(lookUp(), ANSWER_MS, this.#clock, () => undefined)
      .then(
        () => void this.#recent.add(digest),
        (cause: unknown) => {
          throw storageAway(cause);
        },
      )
      .finally(() => this.#asked.delete(digest));
    this.#asked.set(digest, asking);
    return asking;
  }
}

const tooMany = (): GatewayError =>
  new GatewayError("overloaded", "Too many unknown API keys are being looked up. Try again in a second.", {
    retryAfterSeconds: 1,
  });

const storageAway = (cause: unknown): GatewayError =>
  new GatewayError(
    "overloaded",
    "This gateway does not know the API key, and its database, which may have it, does not answer. Try again in a moment.",
    { code: "storage_away", retryAfterSeconds: 5, cause },
  );
