import type { Receipt } from "../canon/receipt.ts";
import { outcomeClass } from "./outcome-class.ts";
import type { CallTrace } from "./trace-context.ts";

export interface Sampling {
  /** The share of ordinary calls that is kept, 0 to 1. */
  ratio: number;
  /** Calls that took at least this long are always kept. */
  slowMs: number;
}

/** How many digits of a trace's id decide: as many bits as OpenTelemetry's own sampler takes. */
const DIGITS = 14;

/** Below it are the ids of traces that are kept. As text: hexadecimal digits of one length sort as their numbers do. */
const bounds = new Map<number, string>();

function boundOf(ratio: number): string {
  let bound = bounds.get(ratio);
  if (bound === undefined) {
    bound = (BigInt(Math.round(ratio * 2 ** 53)) << BigInt(DIGITS * 4 - 53)).toString(16).padStart(DIGITS, "0");
    bounds.set(ratio, bound);
  }
  return bound;
}

/** Depends only on the trace id, so that everyone who sees the trace decides the same. */
export const isInRatio = (traceId: string, ratio: number): boolean =>
  ratio >= 1 || traceId.slice(-DIGITS) < boundOf(ratio);

/** Decided at the end: calls that an operator looks for are always kept. */
export function isKept(receipt: Receipt, trace: ChosenTrace, sampling: Sampling): boolean {
  if (outcomeClass(receipt.outcome) === "failed" || receipt.totalMs >= sampling.slowMs) return true;
  if (receipt.offers.length > 1 || receipt.continued !== undefined) return true;
  return isChosen(trace, sampling);
}

type ChosenTrace = Pick<CallTrace, "traceId" | "parent" | "chosen">;

/**
 * Whether an ordinary trace is kept: its parent decides, else the ratio. Decided once, because providers may have received it.
 */
export function isChosen(trace: ChosenTrace, { ratio }: Sampling): boolean {
  trace.chosen ??= trace.parent?.sampled ?? isInRatio(trace.traceId, ratio);
  return trace.chosen;
}
