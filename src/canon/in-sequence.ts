import { GatewayError } from "./error.ts";
import { type CanonEvent, holdEvent } from "./event.ts";

/** How many characters may wait for the open block to end. Far above any legitimate stream. */
const MAX_HELD = 8 * 1024 * 1024;

/**
 * Puts the blocks of a stream one after the other, for protocols in which they may not interleave. Events of a later block wait until all
 * earlier blocks have ended. The order within a block stays the same.
 */
export class InSequence {
  /** Blocks in the order in which they began. The first is the open one. */
  readonly #waiting = new Map<number, { held: CanonEvent[]; ended: boolean }>();
  #heldCharacters = 0;

  push(event: CanonEvent): CanonEvent[] {
    if (!("block" in event)) return event.type === "finish" ? [...this.#flush(), event] : [event];
    const known = this.#waiting.get(event.block);
    const block = known ?? { held: [], ended: false };
    if (known === undefined) this.#waiting.set(event.block, block);
    if (event.type === "whole" || event.type.endsWith("-end")) block.ended = true;
    const [open] = this.#waiting.keys();
    if (event.block !== open) {
      this.#hold(block.held, event);
      return [];
    }
    return block.ended ? [event, ...this.#next(event.block)] : [event];
  }

  /** After the open block ends, releases the events of the next block, and of those after it while they have ended as well. */
  #next(ended: number): CanonEvent[] {
    const events: CanonEvent[] = [];
    this.#waiting.delete(ended);
    for (const [block, { held, ended: over }] of this.#waiting) {
      for (const event of held.splice(0)) {
        this.#heldCharacters -= sizeOf(event);
        events.push(event);
      }
      if (!over) break;
      this.#waiting.delete(block);
    }
    return events;
  }

  /** A block without an end does not hold back the following blocks. */
  #flush(): CanonEvent[] {
    const events = [...this.#waiting.values()].flatMap(({ held }) => held);
    this.#waiting.clear();
    return events;
  }

  #hold(held: CanonEvent[], event: CanonEvent): void {
    this.#heldCharacters += sizeOf(event);
    if (this.#heldCharacters > MAX_HELD) {
      throw new GatewayError("upstream_failed", "The provider interleaved more output than the gateway can buffer.");
    }
    holdEvent(held, event);
  }
}

const sizeOf = (event: CanonEvent): number => ("text" in event ? event.text.length : 64);
