import type { Cancel, Clock } from "../base/clock.ts";
import type { Family } from "./family.ts";
import { HistogramFamily, SeriesBudget } from "./series.ts";

const EVERY_MS = 500;
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 5];

/** How late timers fire in this process. Nothing else runs while one turn of the event loop is slow. */
export class LoopLag {
  readonly #family = new HistogramFamily(
    {
      name: "trivium_event_loop_lag_seconds",
      help: "Delay of the event loop, measured with a timer.",
      labels: [],
      bounds: BOUNDS,
      unit: 1_000,
    },
    new SeriesBudget(BOUNDS.length + 3),
  );

  watch({ nowMs, every }: Clock): Cancel {
    const cell = this.#family.at();
    let dueMs = nowMs() + EVERY_MS;
    return every(
      EVERY_MS,
      () => {
        const atMs = nowMs();
        this.#family.observe(cell, Math.max(0, atMs - dueMs));
        dueMs = atMs + EVERY_MS;
      },
      { background: true },
    );
  }

  family(): Family {
    return this.#family.family();
  }
}
