import type { FieldNote } from "../../canon/receipt.ts";
import type { AttemptCapture } from "../../capture/call-capture.ts";
import type { VideoTarget } from "../../routing/target.ts";
import type { OfferAttempt } from "../attempt/attempted-call.ts";

const LANE = { name: "translated" } as const;

/**
 * One attempt at one offer for videos: submits a job, within seconds. Nothing ends it early, because an accepted job belongs to its
 * operation, whether or not the client waits.
 */
export class SubmitAttempt implements OfferAttempt {
  readonly target: VideoTarget;
  readonly lane = LANE;
  notes: FieldNote[] = [];
  readonly terms: readonly string[] = [];
  readonly timed = "whole";
  readonly startedAtMs: number;
  capture: AttemptCapture | undefined;
  readonly #nowMs: () => number;

  constructor(target: VideoTarget, nowMs: () => number) {
    this.target = target;
    this.#nowMs = nowMs;
    this.startedAtMs = nowMs();
  }

  get msSoFar(): number {
    return Math.round(this.#nowMs() - this.startedAtMs);
  }

  close(): void {}
}
