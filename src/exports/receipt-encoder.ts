import type { Receipt } from "../canon/receipt.ts";

/** Writes one file. */
export interface ReceiptEncoder {
  /** The next bytes of the file, perhaps none: a format may collect receipts, a bounded number of them. */
  add(receipts: readonly Receipt[]): Uint8Array;
  /** The last bytes of the file. */
  end(): Uint8Array;
}
