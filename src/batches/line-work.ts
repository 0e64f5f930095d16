import type { GatewayError } from "../canon/error.ts";
import type { LineResult } from "../storage/tables/batch-lines.ts";
import type { OpenBatch } from "../storage/tables/batches.ts";

/** A line with the batch that it belongs to. */
export interface LineToRun {
  batch: OpenBatch;
  customId: string;
  line: number;
  text: string;
}

/** `retryAfterMs`: a limit does not allow it now. `revoked`: the key may not call any more. */
export type LineOutcome = LineResult | { retryAfterMs: number } | "revoked";

/** What the gateway does with lines. */
export interface LineWork {
  /** What a line may cost. Zero for one that is going to be refused. */
  estimate(line: LineToRun): Promise<number>;
  /** Holds what the lines of a batch may cost. Throws if the key or its project cannot afford it. */
  reserve(batch: OpenBatch, costNanoUsd: number): Promise<void>;
  /** Changes what is held for a batch; zero if it is held elsewhere or done. */
  hold(batch: OpenBatch, costNanoUsd: number): void;
  /** Calls `onAdmitted` when the line holds its own cost. */
  run(line: LineToRun, onAdmitted: () => void): Promise<LineOutcome>;
  /** The result of a line that is refused without being run. */
  refused(batch: OpenBatch, error: GatewayError): Pick<LineResult, "status" | "result">;
}
