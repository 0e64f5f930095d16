import type { Receipt } from "../canon/receipt.ts";
import type { IdRange, ReceiptFilter } from "../storage/receipts/receipt-pages.ts";
import type { Storage } from "../storage/storage.ts";
import { selectUnsettled } from "../storage/tables/intents.ts";

const ROWS_AT_ONCE = 500;

/** Both in the order of their ids. A call that was settled while it was read is a receipt. */
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

/** Calls without a receipt among those of a range, the oldest first, read some at a time. */
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

  /** The next ones up to that id, at most so many; where no id is given, of all that are left. */
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
