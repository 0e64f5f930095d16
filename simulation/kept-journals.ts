import type { Receipt } from "../src/canon/receipt.ts";
import type { Journal } from "../src/ledger/journal.ts";
import { insertReceipts } from "../src/storage/receipts/receipts.ts";
import type { Storage } from "../src/storage/storage.ts";

/** The disk with the journals of all processes: its content outlives them. */
export class KeptJournals {
  readonly #journals = new Map<number, Receipt[]>();

  /** The journal of one process while it is alive. */
  open(process: number, isAlive: () => boolean): Journal {
    return {
      append: async (receipts) => {
        if (isAlive()) this.#journals.set(process, [...(this.#journals.get(process) ?? []), ...receipts]);
      },
      clear: async () => {
        if (isAlive()) this.#journals.delete(process);
      },
      close: async () => {},
      full: false,
      shortage: () => undefined,
    };
  }

  /** As at a start: the journals of dead processes are read into the store. */
  async recover(storage: Storage): Promise<void> {
    for (const [process, receipts] of this.#journals) {
      await insertReceipts(storage, receipts);
      this.#journals.delete(process);
    }
  }
}
