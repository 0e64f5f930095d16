import type { Operation } from "../canon/operation.ts";
import { endOperation } from "../storage/operations.ts";
import type { Storage } from "../storage/storage.ts";
import { receiptOf } from "./bill.ts";

export interface SettlementOptions {
  storage: Storage;
  owner: string;
  nowMs: () => number;
  /** How long an operation that has ended is kept. */
  keptMs: number;
  /** Told once, by the process that settled it. */
  onSettled: (operation: Operation, costNanoUsd: number) => void;
}

/** Ends operations: state and bill together, once. */
export class Settlement {
  readonly #options: SettlementOptions;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /** Every part has ended. False where somebody else was faster. */
  async end(operation: Operation): Promise<boolean> {
    const { storage, owner, nowMs, keptMs, onSettled } = this.#options;
    const endedAtMs = Math.round(nowMs());
    const made = operation.parts.some((part) => part.videos.length > 0 || part.filtered.length > 0);
    const [failure] = operation.parts.flatMap((part) => (part.error ? [part.error] : []));
    const failed = !made && failure !== undefined;
    const ended: Operation = {
      ...operation,
      state: failed ? "failed" : "done",
      ...(failed ? { error: failure } : {}),
      endedAtMs,
      expiresAtMs: endedAtMs + keptMs,
    };
    const receipt = receiptOf(ended, endedAtMs);
    if (!(await endOperation(storage, ended, receipt, owner))) return false;
    onSettled(ended, receipt.costNanoUsd);
    return true;
  }
}
