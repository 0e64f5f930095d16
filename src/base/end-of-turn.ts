import type { Clock } from "./clock.ts";

/**
 * Runs callbacks after the runtime has handled everything that arrived in this turn of the event loop. All of a turn share one place
 * in the next, so that what follows from them runs step by step for all: twenty streams begun at once then take a tenth less processor
 * time than one after the other (decision 0132). The callbacks must not throw.
 */
export class EndOfTurn {
  readonly #clock: Pick<Clock, "soon">;
  #due: (() => void)[] = [];

  constructor(clock: Pick<Clock, "soon">) {
    this.#clock = clock;
  }

  add(run: () => void): void {
    if (this.#due.push(run) === 1) this.#clock.soon(this.#run);
  }

  readonly #run = (): void => {
    const due = this.#due;
    this.#due = [];
    for (const one of due) one();
  };
}
