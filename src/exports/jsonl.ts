import { rowOf } from "../ledger/export.ts";
import type { ReceiptEncoder } from "./receipt-encoder.ts";

/** One JSON object for each receipt, as `GET /api/usage/export` shows it. */
export const jsonlEncoder = (): ReceiptEncoder => ({
  add: (receipts) => Buffer.from(receipts.map((receipt) => `${JSON.stringify(rowOf(receipt))}\n`).join("")),
  end: () => new Uint8Array(0),
});
