import type { FieldNote } from "../../canon/receipt.ts";
import type { MediaTarget } from "../../routing/target.ts";
import type { Try } from "../try-offers.ts";

const LANE = { name: "translated" } as const;

/** One try of one target of images or videos. */
export class MediaAttempt<Adapter> implements Try {
  readonly target: MediaTarget<Adapter>;
  readonly lane = LANE;
  notes: FieldNote[];
  readonly terms: readonly string[] = [];
  readonly timed = "whole";
  readonly #startedAtMs: number;
  readonly #nowMs: () => number;

  constructor(target: MediaTarget<Adapter>, nowMs: () => number, notes: readonly FieldNote[] = []) {
    this.target = target;
    this.notes = [...notes];
    this.#nowMs = nowMs;
    this.#startedAtMs = nowMs();
  }

  get msSoFar(): number {
    return Math.round(this.#nowMs() - this.#startedAtMs);
  }

  close(): void {}
}
