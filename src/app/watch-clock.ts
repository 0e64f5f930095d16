const LOOK_EVERY_MS = 5_000;
/** Less is the clock being slowly set right, as time servers do. */
const STEP_MS = 2_000;

interface ClockOptions {
  /** The clock of the machine, which may be set. */
  wallMs: () => number;
  /** A clock that only goes on. */
  nowMs: () => number;
  onStep: (byMs: number) => void;
  everyMs?: number;
}

/** Notices that the clock was set, or that the machine slept. The function that is returned ends it. */
export function watchClock({ wallMs, nowMs, onStep, everyMs = LOOK_EVERY_MS }: ClockOptions): () => void {
  let offsetMs = wallMs() - nowMs();
  const look = () => {
    const stepMs = wallMs() - nowMs() - offsetMs;
    offsetMs += stepMs;
    if (Math.abs(stepMs) >= STEP_MS) onStep(stepMs);
  };
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
}
