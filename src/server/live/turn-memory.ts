import type { EarlierTurns } from "../../dialects/responses/live/client-event.ts";
import { type HeldMemory, MemoryExhaustedError } from "../../relay/request/memory-budget.ts";

/** A turn that the gateway does not store. Texts are lists of items in JSON. */
interface RememberedTurn {
  readonly input: string;
  readonly output: string;
  /** The response that it continues. */
  readonly previous: string | undefined;
}

const NO_TURNS: EarlierTurns["turns"] = [];

/**
 * The turns of one connection that later turns may continue although no storage has them. When they exceed the bound, those that
 * were used longest ago are forgotten: to continue them is an error, as for a response that has expired.
 */
export class TurnMemory {
  /** The last used is last. */
  readonly #turns = new Map<string, RememberedTurn>();
  readonly #memory: HeldMemory;
  readonly #maxBytes: () => number;

  constructor(memory: HeldMemory, maxBytes: () => number) {
    this.#memory = memory;
    this.#maxBytes = maxBytes;
  }

  /** Ids are unique. A turn can only continue one that was remembered before. */
  remember(id: string, turn: RememberedTurn): void {
    const bytes = bytesOf(turn);
    while (this.#turns.size > 0 && this.#memory.bytes + bytes > this.#maxBytes()) this.#forgetOldest();
    try {
      this.#memory.add(bytes);
    } catch (thrown) {
      if (thrown instanceof MemoryExhaustedError) return;
      throw thrown;
    }
    this.#turns.set(id, turn);
  }

  /** What a request continues that names this response. */
  before(previous: string | undefined): EarlierTurns {
    if (previous === undefined || !this.#turns.has(previous)) return { turns: NO_TURNS, before: previous };
    const found: RememberedTurn[] = [];
    const ids: string[] = [];
    let id: string | undefined = previous;
    for (let turn = this.#turns.get(previous); id !== undefined && turn !== undefined; ) {
      found.push(turn);
      ids.push(id);
      id = turn.previous;
      turn = id === undefined ? undefined : this.#turns.get(id);
    }
    for (const used of ids.reverse()) this.#use(used);
    return { turns: found.reverse(), before: id };
  }

  release(): void {
    this.#turns.clear();
    this.#memory.release();
  }

  #use(id: string): void {
    const turn = this.#turns.get(id);
    if (turn === undefined) return;
    this.#turns.delete(id);
    this.#turns.set(id, turn);
  }

  #forgetOldest(): void {
    for (const id of this.#turns.keys()) {
      this.#forget(id);
      return;
    }
  }

  #forget(id: string): void {
    const turn = this.#turns.get(id);
    if (turn === undefined) return;
    this.#turns.delete(id);
    this.#memory.release(bytesOf(turn));
  }
}

const bytesOf = ({ input, output }: RememberedTurn): number => input.length + output.length;
