import type { Operation } from "../canon/operation.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { Storage } from "../storage/storage.ts";
import { endOperation, selectEndedOperations } from "../storage/tables/operations.ts";
import { operationBill, receiptOf } from "./bill.ts";

interface SettlementOptions {
  /** The id of this process. */
  instance: string;
  storage: Storage;
  nowMs: () => number;
  /** How long an operation that has ended is kept. */
  keptMs: number;
  /** Called once in the process that settled it, and in every other that holds money for it. */
  onSettled: (operation: Operation, costNanoUsd: number, isHere: boolean) => void;
  /** Called for each operation that this process has ended. */
  onEnded: (receipt: Receipt, operation: Operation) => void;
  /** The ids of operations that this process holds money for. */
  held: () => readonly string[];
}

/** How often this process looks for what others have settled. */
const FOLLOW_MS = 1_000;

/** Ends operations: saves state and bill together, once. */
export class Settlement {
  readonly #options: SettlementOptions;
  /** Being settled by this process right now. */
  readonly #ending = new Set<string>();
  #followedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /** Settles an operation whose parts have all ended. False if another worker was faster. `owner`: of the lease. */
  async end(operation: Operation, owner: string): Promise<boolean> {
    const { instance, storage, nowMs, keptMs, onSettled, onEnded } = this.#options;
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
    const receipt = { ...receiptOf(ended, endedAtMs), instance };
    this.#ending.add(operation.id);
    try {
      if (!(await endOperation(storage, ended, receipt, owner))) return false;
      onSettled(ended, receipt.costNanoUsd, true);
      onEnded(receipt, ended);
      return true;
    } finally {
      this.#ending.delete(operation.id);
    }
  }

  /** Releases the money of operations that another process has settled: it is spent or free. */
  async followOthers(): Promise<void> {
    const { storage, nowMs, held, onSettled } = this.#options;
    if (nowMs() - this.#followedAtMs < FOLLOW_MS) return;
    this.#followedAtMs = nowMs();
    const ended = await selectEndedOperations(storage, held());
    const stillHeld = new Set(held());
    for (const operation of ended) {
      if (!stillHeld.has(operation.id) || this.#ending.has(operation.id)) continue;
      onSettled(operation, operationBill(operation).costNanoUsd, false);
    }
  }
}
