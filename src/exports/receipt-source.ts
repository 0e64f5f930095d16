import type { Receipt } from "../canon/receipt.ts";
import type { Storage } from "../storage/storage.ts";
import { selectLateReceipts, selectReceiptsToExport } from "../storage/tables/exports.ts";

/** Few enough that encoding them does not hold up calls. */
const PAGE = 250;

interface SourceOptions {
  storage: Storage;
  /** The export. */
  name: string;
  fromId: string;
  untilId: string;
}

/**
 * The receipts that an export has not written yet: a range of ids, and then those that came late. In this order, because a late receipt
 * that is no longer listed as late would otherwise be found in the range.
 */
export class ReceiptSource {
  readonly #options: SourceOptions;
  #lateAfterId = "";
  /** The late receipts that were read. */
  readonly lateIds: string[] = [];
  /** Receipts of the range with smaller ids were read. */
  nextId: string;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.nextId = options.fromId;
  }

  /** The next page; empty at the end. */
  async next(): Promise<Receipt[]> {
    const { storage, name, untilId } = this.#options;
    if (this.nextId < untilId) {
      const page = await selectReceiptsToExport(storage, name, { fromId: this.nextId, untilId, limit: PAGE });
      const last = page.at(-1);
      // After this id, and before any other that could follow it. What is stored in the range from now on is late.
      this.nextId = last === undefined || page.length < PAGE ? untilId : `${last.id}~`;
      if (page.length > 0) return page;
    }
    const late = await selectLateReceipts(storage, name, { afterId: this.#lateAfterId, limit: PAGE });
    for (const { id } of late) {
      this.lateIds.push(id);
      this.#lateAfterId = id;
    }
    return late;
  }
}
