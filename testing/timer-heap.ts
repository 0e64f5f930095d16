export interface Timer {
  dueMs: number;
  /** Timers that are due at the same time run in the order in which they were set. */
  order: number;
  readonly everyMs: number | undefined;
  readonly run: () => void;
  isSet: boolean;
}

/** Cancelled timers stay in the heap until they are due, or until they are most of it. */
const MAX_CANCELLED = 64;

/** Timers by the moment at which they are due. */
export class TimerHeap {
  #heap: Timer[] = [];
  #order = 0;
  #cancelled = 0;

  /** Timers that are set. */
  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  add(dueMs: number, everyMs: number | undefined, run: () => void): Timer {
    const timer: Timer = { dueMs, order: this.#order++, everyMs, run, isSet: true };
    this.#push(timer);
    return timer;
  }

  cancel(timer: Timer): void {
    if (!timer.isSet) return;
    timer.isSet = false;
    this.#cancelled++;
    if (this.#cancelled < MAX_CANCELLED || this.#cancelled < this.#heap.length / 2) return;
    const rest = this.#heap.filter(({ isSet }) => isSet);
    this.#heap = [];
    this.#cancelled = 0;
    for (const one of rest) this.#push(one);
  }

  /** The one that is due next. */
  first(): Timer | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.isSet) return first;
      this.#removeFirst();
      this.#cancelled--;
    }
  }

  /** Takes out the first one because it runs now; one that repeats is set anew. */
  take(timer: Timer): void {
    this.#removeFirst();
    if (timer.everyMs === undefined) {
      timer.isSet = false;
      return;
    }
    timer.dueMs += Math.max(1, timer.everyMs);
    timer.order = this.#order++;
    this.#push(timer);
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Timer;
      if (!isSooner(timer, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = timer;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isSooner(right, heap[child] as Timer)) child++;
      const below = heap[child] as Timer;
      if (!isSooner(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

const isSooner = (one: Timer, other: Timer): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order);
