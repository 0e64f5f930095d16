import type { Receipt } from "../canon/receipt.ts";
import { outcomeClass } from "./outcome-class.ts";
import type { TraceParent } from "./trace-context.ts";

export interface Sampling {
  /** The share of ordinary calls that is kept, 0 to 1. */
  ratio: number;
  /** A call that took as long is always kept. */
  slowMs: number;
}

/** As much as the last 53 bits of a trace's id can be. */
const RANGE = 2 ** 52;

/** By the trace's id alone, so that all who see the same trace decide the same. */
export const isInRatio = (traceId: string, ratio: number): boolean =>
  ratio >= 1 || Number.parseInt(traceId.slice(-13), 16) < ratio * RANGE;

/** Decided when all is known: what an operator looks for is always kept. */
export function isKept(
  receipt: Receipt,
  traceId: string,
  parent: TraceParent | undefined,
  sampling: Sampling,
): boolean {
  if (outcomeClass(receipt.outcome) === "failed" || receipt.totalMs >= sampling.slowMs) return true;
  if (receipt.offers.length > 1 || receipt.continued !== undefined) return true;
  return parent?.sampled ?? isInRatio(traceId, sampling.ratio);
}
