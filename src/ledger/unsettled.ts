import type { Receipt } from "../canon/receipt.ts";
import type { IdRange, ReceiptFilter } from "../storage/receipts/receipt-pages.ts";
import type { Storage } from "../storage/storage.ts";
import { selectUnsettled } from "../storage/tables/intents.ts";

const ROWS_AT_ONCE = 500;

/** Merges both by id. A call that was settled during the read appears as a receipt. */
export function mergeById(
  unsettled: readonly Receipt[],
  receipts: readonly Receipt[],
  newestFirst: boolean,
): Receipt[] {
  if (unsettled.length === 0) return [...receipts];
  const settled = new Set(receipts.map(({ id }) => id));
  const merged = [...unsettled.filter(({ id }) => !settled.has(id)), ...receipts];
  const sign = newestFirst ? -1 : 1;
  return merged.sort((a, b) => (a.id === b.id ? 0 : a.id < b.id ? -sign : sign));
}

/** Calls without a receipt in a range, oldest first, read in batches. */
export class UnsettledCalls {
  readonly #storage: Storage;
  readonly #filter: ReceiptFilter;
  readonly #endId: string;
  #firstId: string;
  #waiting: Receipt[] = [];
  #isOver = false;

  constructor(storage: Storage, filter: ReceiptFilter, { firstId, endId }: IdRange) {
    this.#storage = storage;
    this.#filter = filter;
    this.#firstId = firstId;
    this.#endId = endId;
  }

  /** The next calls up to that id, a bounded number; without an id, of all that are left. */
  async next(upToId?: string): Promise<Receipt[]> {
    if (this.#waiting.length === 0 && !this.#isOver) await this.#read();
    const at = upToId === undefined ? -1 : this.#waiting.findIndex(({ id }) => id > upToId);
    return this.#waiting.splice(0, at < 0 ? this.#waiting.length : at);
  }

  async #read(): Promise<void> {
    const range = { firstId: this.#firstId, endId: this.#endId };
    this.#waiting = await selectUnsettled(this.#storage, this.#filter, range, {
      limit: ROWS_AT_ONCE,
      newestFirst: false,
    });
    const last = this.#waiting.at(-1);
    this.#isOver = this.#waiting.length < ROWS_AT_ONCE;
    if (last !== undefined) this.#firstId = `${last.id}\u0001`;
  }
}
