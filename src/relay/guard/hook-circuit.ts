import type { Clock } from "../../base/clock.ts";
import { HookError } from "../../guards/text-hook.ts";

/** This many failures in a row open it. */
const FAILURES = 5;
const OPEN_MS = 30_000;

/**
 * Stops asking something that does not answer, so that not every call waits for it. One question tries again after a while. Each
 * project has its own: what one does must not keep the texts of others from being checked (H74).
 */
export class HookCircuit {
  /** By project, only of those with failures. */
  readonly #failing = new Map<string, { failures: number; openUntilMs: number }>();

  async run<T>(project: string, clock: Pick<Clock, "nowMs">, ask: () => Promise<T>): Promise<T> {
    const before = this.#failing.get(project);
    if (before !== undefined && before.failures >= FAILURES) {
      if (clock.nowMs() < before.openUntilMs) throw new HookError("it was skipped because it failed repeatedly");
      // The others wait for the outcome of this one.
      before.openUntilMs = clock.nowMs() + OPEN_MS;
    }
    try {
      const result = await ask();
      this.#failing.delete(project);
      return result;
    } catch (thrown) {
      // A call that ended meanwhile says nothing about what was asked.
      if (!(thrown instanceof HookError)) throw thrown;
      const failures = (this.#failing.get(project)?.failures ?? 0) + 1;
      this.#failing.set(project, { failures, openUntilMs: clock.nowMs() + OPEN_MS });
      throw thrown;
    }
  }
}
