import type { LiveEvent, LiveStep } from "../../canon/live.ts";

const NONE: readonly never[] = Object.freeze([]);

/** Nothing follows. */
export const NO_STEP: LiveStep = Object.freeze({ frames: NONE, events: NONE });

export const stepOf = (frames: readonly string[], events: readonly LiveEvent[] = NONE): LiveStep =>
  frames.length + events.length === 0 ? NO_STEP : { frames, events };
