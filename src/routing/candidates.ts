import { NO_PREFERENCE, type Preference } from "../canon/preference.ts";
import { type Candidate, candidatesOf } from "./candidate.ts";
import type { Planned } from "./plan.ts";
import type { Target } from "./target.ts";

/** The targets of one call in order, with reasons; undefined if there was no choice. */
export interface CallPlan<T extends Target> {
  readonly targets: readonly T[];
  readonly explained: readonly Planned<T>[] | undefined;
}

/** The candidates of one model for clients of one dialect. Created with the configuration and shared by all calls. */
export class Candidates<T extends Target> {
  readonly list: readonly Candidate<T>[];
  readonly #only: CallPlan<T> | undefined;
  readonly #onlyPreferred: CallPlan<T> | undefined;

  constructor(targets: readonly T[], dialect: string) {
    this.list = candidatesOf(targets, dialect);
    const [target, ...others] = this.list.flatMap((candidate) => candidate.targets);
    if (target === undefined || others.length > 0) return;
    this.#only = { targets: [target], explained: undefined };
    this.#onlyPreferred = { targets: [target], explained: [{ target, why: "the only offer" }] };
  }

  /**
   * The plan if there is only one target, so that such a call pays nothing for planning. Undefined if there is something to plan,
   * or names to check.
   */
  only(preference: Preference): CallPlan<T> | undefined {
    if (preference === NO_PREFERENCE) return this.#only;
    return preference.providers !== undefined || typeof preference.fallback === "object"
      ? undefined
      : this.#onlyPreferred;
  }
}
