import type { FailureName } from "../host-error.ts";

/** What goes wrong in transport, independent of the answer. */
export type Fault =
  | { kind: "fail"; failure: FailureName }
  | { kind: "flaky"; times: number }
  | { kind: "late"; seconds: number }
  | { kind: "silent"; seconds: number }
  | { kind: "stall" }
  | { kind: "cut-before-first" }
  | { kind: "cut-mid-event" }
  | { kind: "cut-mid-stream" }
  | { kind: "close-mid-stream" }
  | { kind: "error-in-stream" }
  | { kind: "error-first-event" }
  | { kind: "garbage" }
  | { kind: "garbage-in-stream" }
  | { kind: "drip" }
  | { kind: "crlf" };

/** An answer that is not made from the request. */
type AnswerKind = "empty" | "refusal" | "blocked" | "max-tokens" | "huge" | "echo" | "agent";

/** A liberty that sloppy hosts take with the protocol. */
type Quirk = "parallel-same-index" | "no-usage" | "no-done";

export interface Traits {
  /** `asked`: when the request asks. `strict`: and its signatures must come back. `unseen`: always, and unshown on chat. */
  thinks?: "asked" | "strict" | "unseen";
  /** Milliseconds for each token, instead of the simulator's own pace. */
  msPerToken?: number;
  answer?: AnswerKind;
  fault?: Fault;
  quirk?: Quirk;
}

const MAX_SECONDS = 600;

const NAMED: Readonly<Record<string, Traits>> = {
  standard: {},
  talker: {},
  thinker: { thinks: "asked" },
  "strict-thinker": { thinks: "strict" },
  "reasoner-strict": { thinks: "unseen" },
  slow: { msPerToken: 25 },
  agent: { thinks: "strict", answer: "agent" },
  "slow-first-byte": { fault: { kind: "late", seconds: 20 } },
  "stall-mid-stream": { fault: { kind: "stall" } },
  "cut-before-first": { fault: { kind: "cut-before-first" } },
  "cut-mid-event": { fault: { kind: "cut-mid-event" } },
  "cut-mid-stream": { fault: { kind: "cut-mid-stream" } },
  "close-mid-stream": { fault: { kind: "close-mid-stream" } },
  "error-in-stream": { fault: { kind: "error-in-stream" } },
  "error-first-event": { fault: { kind: "error-first-event" } },
  garbage: { fault: { kind: "garbage" } },
  "garbage-in-stream": { fault: { kind: "garbage-in-stream" } },
  "blocked-prompt": { answer: "blocked" },
  empty: { answer: "empty" },
  refusal: { answer: "refusal" },
  "max-tokens": { answer: "max-tokens" },
  huge: { answer: "huge" },
  "echo-request": { answer: "echo" },
  drip: { fault: { kind: "drip" } },
  crlf: { fault: { kind: "crlf" } },
  "parallel-same-index": { quirk: "parallel-same-index" },
  "no-usage": { quirk: "no-usage" },
  "no-done": { quirk: "no-done" },
};

const FAILURES: readonly FailureName[] = ["400", "401", "403", "404", "413", "429", "429-quota", "500", "503", "529"];

/** The behaviour of the model with that name; `undefined` if unknown. */
export function traitsOf(name: string): Traits | undefined {
  const named = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  if (named !== undefined) return named;
  const failure = FAILURES.find((candidate) => name === `fail-${candidate}`);
  if (failure !== undefined) return { fault: { kind: "fail", failure } };
  const numbered = /^(slow-first-byte|slow-headers|silent|flaky)-(\d{1,3})$/.exec(name);
  if (numbered === null) return undefined;
  const number = Math.min(Number(numbered[2]), MAX_SECONDS);
  if (numbered[1] === "silent") return { fault: { kind: "silent", seconds: number } };
  if (numbered[1] === "flaky") return { fault: { kind: "flaky", times: number } };
  return { fault: { kind: "late", seconds: number } };
}
