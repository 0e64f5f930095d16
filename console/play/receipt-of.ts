import { ask } from "../api/client.ts";
import type { ReceiptDetail } from "../api/types.ts";

const ATTEMPTS = 20;
const WAIT_MS = 150;

/** Receipts are written shortly after their calls. */
export async function receiptOf(id: string): Promise<ReceiptDetail | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await ask<{ data: ReceiptDetail }>(`/api/receipts/${id}`).catch(() => undefined);
    if (found !== undefined) return found.data;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  return undefined;
}
