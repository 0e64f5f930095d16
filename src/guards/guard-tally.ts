import type { GuardOn, GuardVerdict } from "../canon/guard/guard-verdict.ts";
import { MOST_PLACES } from "./place-of.ts";

const RANK: Readonly<Record<GuardVerdict["verdict"], number>> = {
  passed: 0,
  not_run: 1,
  observed: 2,
  unreadable: 3,
  redacted: 4,
  blocked: 5,
};

const MAX_REASON = 200;

/** What the guards of one direction have found so far. A guard that has not run says so (H57). */
export class GuardTally {
  readonly on: GuardOn;
  readonly #verdicts = new Map<string, GuardVerdict>();
  readonly #begun = new Set<string>();

  constructor(on: GuardOn, names: readonly string[], reason: string) {
    this.on = on;
    for (const name of names) this.#verdicts.set(name, { name, on, verdict: "not_run", reason, ms: 0 });
  }

  /** A guard has looked at something. The most severe of its verdicts counts. */
  add(name: string, { verdict, count = 0, paths = [], reason, ms }: Omit<GuardVerdict, "name" | "on">): void {
    const before = this.#verdicts.get(name);
    if (before === undefined) return;
    const isFirst = !this.#begun.has(name);
    this.#begun.add(name);
    const worse = isFirst || RANK[verdict] > RANK[before.verdict];
    const next: GuardVerdict = { name, on: this.on, verdict: worse ? verdict : before.verdict, ms: before.ms + ms };
    const found = (before.count ?? 0) + count;
    if (found > 0) next.count = found;
    const places = [...new Set([...(before.paths ?? []), ...paths])].filter((path) => path !== "");
    if (places.length > 0) next.paths = places.slice(0, MOST_PLACES);
    const why = worse || isFirst ? reason : (before.reason ?? reason);
    if (why !== undefined) next.reason = why.slice(0, MAX_REASON);
    this.#verdicts.set(name, next);
  }

  /** Everything was shown to the guards. One that was shown nothing had nothing to find. */
  finish(): void {
    for (const name of this.#verdicts.keys()) if (!this.#begun.has(name)) this.add(name, { verdict: "passed", ms: 0 });
  }

  /** A guard could not look at something. */
  failed(name: string, reason: string, ms: number): void {
    const before = this.#verdicts.get(name);
    if (before === undefined) return;
    this.#begun.add(name);
    const verdict = RANK[before.verdict] > RANK.not_run ? before.verdict : "not_run";
    this.#verdicts.set(name, { ...before, verdict, reason: reason.slice(0, MAX_REASON), ms: before.ms + ms });
  }

  /** In the order of the guards. Times are in tenths of milliseconds. */
  get verdicts(): GuardVerdict[] {
    return [...this.#verdicts.values()].map((verdict) => ({ ...verdict, ms: Math.round(10 * verdict.ms) / 10 }));
  }

  get hasChanged(): boolean {
    return this.verdicts.some(({ verdict }) => verdict === "redacted" || verdict === "blocked");
  }
}
