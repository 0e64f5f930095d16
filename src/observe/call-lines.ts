import { type CallFacts, type CallLevel, levelOfCall, type SettledCall } from "./call-line.ts";

interface WaitingCall {
  call: SettledCall;
  facts: CallFacts;
  /** When it was settled. */
  atMs: number;
}

/**
 * Lines are built for this many calls at a time: in a loop a line takes about half of the time that it takes between the steps of
 * a call. More of them would hold their receipts until the collector takes them for old (decision 0016).
 */
const AT_ONCE = 32;

/** Calls that are settled and whose lines are not built yet. */
export class CallLines {
  readonly #write: (level: CallLevel, atMs: number, call: SettledCall, facts: CallFacts) => void;
  #waiting: WaitingCall[] = [];

  constructor(write: (level: CallLevel, atMs: number, call: SettledCall, facts: CallFacts) => void) {
    this.#write = write;
  }

  add(call: SettledCall, facts: CallFacts, atMs: number): void {
    if (this.#waiting.push({ call, facts, atMs }) >= AT_ONCE) this.build();
  }

  build(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { call, facts, atMs } of waiting) this.#write(levelOfCall(call, facts), atMs, call, facts);
  }
}
