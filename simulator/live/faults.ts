/** What can be asked for by a word such as `sim:cut` in what is said or written, or in the instructions. */
const FAULTS = [
  "cut",
  "close",
  "silent",
  "deaf",
  "late",
  "slow",
  "garbage",
  "unknown-event",
  "odd-audio",
  "long",
  "no-usage",
  "zero-usage",
  "wrong-usage",
  "fails",
  "broken",
  "busy",
  "overloaded",
  "blocked",
  "go-away",
] as const;

type Fault = (typeof FAULTS)[number];

export interface LiveFaults {
  has(fault: Fault): boolean;
  /** The code to close with, for `close`. */
  closeCode: number;
}

const INTERNAL = 1011;
const NAMES: ReadonlySet<string> = new Set(FAULTS);

/** Codes that a close frame may have (RFC 6455, section 7.4). */
const mayBeSent = (code: number): boolean =>
  (code >= 3000 && code <= 4999) || (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code));

export function faultsOf(text: string): LiveFaults {
  const found = new Set<string>();
  let closeCode = INTERNAL;
  for (const [, word = ""] of text.matchAll(/\bsim:([a-z]+(?:-[a-z0-9]+)*)/gi)) {
    const name = word.toLowerCase();
    const code = /^close-(\d{4})$/.exec(name)?.[1];
    if (code !== undefined) {
      found.add("close");
      if (mayBeSent(Number(code))) closeCode = Number(code);
    } else if (NAMES.has(name)) found.add(name);
  }
  return { has: (fault) => found.has(fault), closeCode };
}
