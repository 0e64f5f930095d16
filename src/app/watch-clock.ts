import type { Clock } from "../base/clock.ts";

const LOOK_EVERY_MS = 5_000;
/** Smaller steps are slow corrections, as time servers make them. */
const STEP_MS = 2_000;

interface ClockOptions {
  clock: Clock;
  onStep: (byMs: number) => void;
  everyMs?: number;
}

/** Detects that the clock was set or that the machine was suspended. The returned function stops it. */
export function watchClock({ clock, onStep, everyMs = LOOK_EVERY_MS }: ClockOptions): () => void {
  const { wallMs, nowMs } = clock;
  let offsetMs = wallMs() - nowMs();
  const look = () => {
    const stepMs = wallMs() - nowMs() - offsetMs;
    offsetMs += stepMs;
    if (Math.abs(stepMs) >= STEP_MS) onStep(stepMs);
  };
  return clock.every(everyMs, look, { background: true });
}
