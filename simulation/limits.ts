import { KEYS, MAX_CONCURRENT, MAX_CONCURRENT_AT } from "./configuration.ts";

/** Requests are counted by whole seconds: of a minute that began within one, 59 seconds are certain. */
const CERTAIN_MINUTE_MS = 59_000;

/** The limits of each key, counted independently. */
export class LimitWatch {
  readonly #onViolation: (rule: string, what: string) => void;
  /** Arrival times of each key's requests that were not refused, oldest first. */
  readonly #admitted = new Map<string, number[]>();

  constructor(onViolation: (rule: string, what: string) => void) {
    this.#onViolation = onViolation;
  }

  /** A starting process does not know the rates of its predecessor. */
  forget(): void {
    this.#admitted.clear();
  }

  /** A request of the key was sent to a provider for the first time. */
  admitted(key: string, sentAtMs: number): void {
    const { requestsPerMinute } = KEYS[key] ?? {};
    if (requestsPerMinute === undefined) return;
    const times = this.#admitted.get(key) ?? [];
    this.#admitted.set(key, times);
    times.push(sentAtMs);
    times.sort((one, other) => one - other);
    while ((times[0] ?? 0) <= (times.at(-1) ?? 0) - CERTAIN_MINUTE_MS) times.shift();
    if (times.length > requestsPerMinute)
      this.#onViolation("limits are never exceeded", `${key} made ${times.length} requests within a minute`);
  }

  underWay(key: string, calls: () => number): void {
    const { concurrent } = KEYS[key] ?? {};
    if (concurrent !== undefined && calls() > concurrent)
      this.#onViolation("limits are never exceeded", `${key} has ${calls()} concurrent calls`);
  }

  /** Requests to providers, in total and per provider. */
  asked(open: number, openAt: (provider: string) => number): void {
    if (open > MAX_CONCURRENT) this.#onViolation("limits are never exceeded", `${open} requests to providers at once`);
    for (const [provider, most] of Object.entries(MAX_CONCURRENT_AT)) {
      if (openAt(provider) > most)
        this.#onViolation("limits are never exceeded", `${openAt(provider)} requests to ${provider} at once`);
    }
  }

  /** The same of each model, whichever was asked for. */
  spentOf(key: string, model: string, { nanoUsd, calls }: { nanoUsd: number; calls: number }): void {
    const { budgetNanoUsdPerDay, requestsPerDay } = KEYS[key]?.ofModels?.[model] ?? {};
    if (budgetNanoUsdPerDay !== undefined && nanoUsd > budgetNanoUsdPerDay)
      this.#onViolation("limits are never exceeded", `${key} has spent ${nanoUsd} nano-dollars on ${model}`);
    if (requestsPerDay !== undefined && calls > requestsPerDay)
      this.#onViolation("limits are never exceeded", `${key} has made ${calls} calls of ${model}`);
  }

  /** The maximum cost of a call is reserved, so a budget holds however many calls are in flight. */
  spent(key: string, nanoUsd: number): void {
    const { budgetNanoUsdPerDay } = KEYS[key] ?? {};
    if (budgetNanoUsdPerDay !== undefined && nanoUsd > budgetNanoUsdPerDay)
      this.#onViolation("limits are never exceeded", `${key} has spent ${nanoUsd} nano-dollars`);
  }
}
