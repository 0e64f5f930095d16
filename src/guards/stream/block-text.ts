import type { CheckContext } from "../check-context.ts";
import type { Guard } from "../guard.ts";
import { BlockStage } from "./block-stage.ts";
import { SegmentQueue } from "./segment-queue.ts";

/** One text of a streamed response on its way through all guards: of one choice, block or tool call. */
export class BlockText {
  readonly name: string;
  /** One for each guard, in order. Empty if the text is only checked when it is complete. */
  readonly stages: readonly BlockStage[];
  /** What has passed every guard. */
  readonly passed = new SegmentQueue();
  /** Collected until it is complete. */
  readonly isWhole: boolean;
  whole = "";
  /** How many characters have arrived. */
  arrived = 0;
  /** How many of them were taken by events that have been sent. */
  taken = 0;
  hasEnded = false;
  /** It has not gone on while much other text arrived: what is waiting is not held back any longer. */
  isStalled = false;
  /** How much had arrived in all texts of the response when this one was last added to. */
  arrivedAt = 0;
  isChanged = false;
  /** What arrived and what is left of it, if the protocol repeats complete texts. */
  original: string | undefined;
  left = "";

  constructor(name: string, guards: readonly Guard[], context: CheckContext, isWhole: boolean, repeats: boolean) {
    this.name = name;
    this.isWhole = isWhole;
    this.stages = isWhole ? [] : guards.map((guard) => new BlockStage(guard, context, name));
    this.original = repeats ? "" : undefined;
  }

  push(text: string): void {
    this.arrived += text.length;
    if (this.original !== undefined) this.original += text;
    if (this.isWhole) this.whole += text;
    else {
      const segment = { text, source: text.length, isChanged: false };
      const [first] = this.stages;
      if (first === undefined) this.passed.push(segment);
      else first.push(segment);
    }
  }

  /** How many characters of the original have passed every guard. */
  get ready(): number {
    return this.taken + this.passed.source;
  }

  /** The text for an event that had this many characters. */
  take(characters: number): string {
    const { text, isChanged } = this.passed.takeSource(characters);
    this.taken += characters;
    this.isChanged ||= isChanged;
    if (this.original !== undefined) this.left += text;
    return text;
  }
}
