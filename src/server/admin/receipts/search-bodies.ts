import type { Receipt } from "../../../canon/receipt.ts";
import { bodyMatches } from "../../../capture/body-matches.ts";
import { UnreadableCapture } from "../../../capture/captures.ts";
import { timeOfId } from "../../../storage/receipts/receipt-ids.ts";
import { idRangeOf, type ReceiptFilter, selectReceipts } from "../../../storage/receipts/receipt-pages.ts";
import { selectCaptureHeads, selectCaptureTime } from "../../../storage/tables/captures.ts";
import type { ServerContext } from "../../routed-request.ts";

/** The most that one page searches, however few of them match. */
const MAX_CAPTURES = 1_000;
/** Compressed, as they are stored. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MS = 2_000;
const HEADS_AT_ONCE = 100;
/** In one turn of the event loop. */
const READ_AT_ONCE = 8;

export interface BodySearch {
  receipts: Receipt[];
  /** Where the next page begins; absent at the end. */
  next: string | undefined;
  /** The search stopped here, at its bound. */
  searchedBackToMs: number | undefined;
  /** Calls whose bodies were read. */
  searched: number;
  /** Sealed with another key, or deleted meanwhile. */
  unreadable: number;
}

interface Page {
  limit: number;
  after: string | undefined;
}

/** Receipts of calls whose captured bodies contain a text, newest first. Bodies are sealed, so that each is opened and read. */
export async function searchBodies(
  { storage, gateway: { captures, clock } }: Pick<ServerContext, "storage" | "gateway">,
  filter: ReceiptFilter,
  wanted: string,
  { limit, after }: Page,
): Promise<BodySearch> {
  const { fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, project, key: keyId } = filter;
  const range = { sinceMs: Math.max(fromMs, captures.keptSinceMs), untilMs: toMs, project, keyId };
  const endMs = clock.nowMs() + MAX_MS;
  const found: BodySearch = { receipts: [], next: undefined, searchedBackToMs: undefined, searched: 0, unreadable: 0 };
  let last = after === undefined ? undefined : await positionOf(after, storage);
  for (let bytes = 0; ; ) {
    const heads = await selectCaptureHeads(storage, { ...range, after: last, limit: HEADS_AT_ONCE });
    for (const head of heads) {
      const isBound = found.searched + found.unreadable >= MAX_CAPTURES || bytes >= MAX_BYTES || clock.nowMs() >= endMs;
      if (last !== undefined && (isBound || found.receipts.length >= limit)) {
        // The position of a page that is full is that of its last receipt, or of a later call that did not match.
        const searchedBackToMs = found.receipts.length >= limit ? undefined : last.createdAtMs;
        return { ...found, next: last.receiptId, searchedBackToMs };
      }
      bytes += head.size;
      last = head;
      const receipt = await matching(head.receiptId);
      if (receipt !== undefined) found.receipts.push(receipt);
      if ((found.searched + found.unreadable) % READ_AT_ONCE === 0) await clock.sleep(0);
    }
    if (heads.length < HEADS_AT_ONCE) return found;
  }

  async function matching(id: string): Promise<Receipt | undefined> {
    const capture = await captures.read(id).catch((thrown: unknown) => {
      if (thrown instanceof UnreadableCapture) return undefined;
      throw thrown;
    });
    if (capture === undefined) {
      found.unreadable++;
      return undefined;
    }
    found.searched++;
    if (!bodyMatches(capture.bodies, wanted)) return undefined;
    const { firstId, endId } = idRangeOf(filter);
    if (id < firstId || id >= endId) return undefined;
    const [receipt] = await selectReceipts(
      storage,
      filter,
      // Its own id alone: no other begins with it.
      { firstId: id, endId: `${id}!` },
      { limit: 1, newestFirst: true },
    );
    return receipt;
  }
}

/** Of a capture that is deleted meanwhile, the time in its id. */
async function positionOf(receiptId: string, storage: ServerContext["storage"]) {
  const createdAtMs = (await selectCaptureTime(storage, receiptId)) ?? timeOfId(receiptId) ?? 0;
  return { createdAtMs, receiptId };
}
