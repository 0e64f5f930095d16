import type { Clock } from "../../base/clock.ts";
import { HookError } from "../../guards/text-hook.ts";

/** This many failures in a row open it. */
const FAILURES = 5;
const OPEN_MS = 30_000;

/** Stops asking something that does not answer, so that not every call waits for it. One question tries again after a while. */
export class HookCircuit {
  #failures = 0;
  #openUntilMs = 0;

  async run<T>(clock: Pick<Clock, "nowMs">, ask: () => Promise<T>): Promise<T> {
    if (this.#failures >= FAILURES) {
      if (clock.nowMs() < this.#openUntilMs) throw new HookError("it was skipped because it failed repeatedly");
      // The others wait for the outcome of this one.
      this.#openUntilMs = clock.nowMs() + OPEN_MS;
    }
    try {
      const result = await ask();
      this.#failures = 0;
      return result;
    } catch (thrown) {
      this.#failures++;
      if (this.#failures >= FAILURES) this.#openUntilMs = clock.nowMs() + OPEN_MS;
      throw thrown;
    }
  }
}
