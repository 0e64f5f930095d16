import { nextTurn } from "../base/next-turn.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Receipt } from "../canon/receipt.ts";
import { timeOfId } from "../storage/receipts/receipt-ids.ts";
import {
  hasDimensions,
  hasTrace,
  type IdRange,
  idRangeOf,
  idRangeOfHour,
  type ReceiptFilter,
  requestTimeOf,
  selectHourWith,
  selectIdAt,
  selectReceiptOfAny,
  selectReceipts,
} from "../storage/receipts/receipt-pages.ts";
import type { Storage } from "../storage/storage.ts";
import { selectIntent, selectUnsettled } from "../storage/tables/intents.ts";
import { mergeById, UnsettledCalls } from "./unsettled.ts";

const HOUR_MS = 3_600_000;
/** The most rows that one statement reads: SQLite does nothing else in the meantime. */
const ROWS_AT_ONCE = 2_000;
/**
 * The most rows searched for one page, however few of them match. An hour in which roll-ups indicate a match counts as
 * a tenth of a full part if it holds less.
 */
const ROWS_A_PAGE = 40_000;
const MAX_PAGE = 1_000;

export interface ReceiptPage {
  /** Newest first. */
  receipts: Receipt[];
  /** Where the next page begins; absent at the end. */
  next?: string;
  /** The page is short because the search reached its bound at this time. */
  searchedBackToMs?: number;
}

/** A page of receipts by id, newest first, including calls that are not settled. */
export async function listReceipts(
  storage: Storage,
  filter: ReceiptFilter,
  { limit, after }: { limit: number; after?: string },
): Promise<ReceiptPage> {
  const count = Math.max(1, Math.min(MAX_PAGE, Math.floor(limit)));
  const { firstId, endId } = idRangeOf(filter);
  const range = { firstId, endId: after !== undefined && after < endId ? after : endId };
  // Read first: a call that is settled in the meantime is then found as a receipt.
  const unsettled = await selectUnsettled(storage, filter, range, { limit: count, newestFirst: true });
  const page = await pageOf(storage, filter, count, after);
  if (unsettled.length === 0) return page;
  const { next } = page;
  const within = next === undefined ? unsettled : unsettled.filter(({ id }) => id >= next);
  const receipts = mergeById(within, page.receipts, true);
  const last = receipts[count - 1];
  const isLast = next === undefined && receipts.length === count && unsettled.length < count;
  if (last === undefined || isLast) return { ...page, receipts };
  return { receipts: receipts.slice(0, count), next: last.id };
}

/** Never reads the whole ledger: roll-ups show which hours can match, and the search row by row is bounded. */
async function pageOf(storage: Storage, filter: ReceiptFilter, count: number, after?: string): Promise<ReceiptPage> {
  if (requestTimeOf(filter) !== undefined) return ofRequest(storage, filter, count, after);
  const receipts: Receipt[] = [];
  const range = idRangeOf(filter);
  let { endId } = range;
  if (after !== undefined && after < endId) endId = after;
  for (let read = 0; read < ROWS_A_PAGE; ) {
    const part = await nextPart(storage, filter, { firstId: range.firstId, endId }, true);
    if (part === undefined) return { receipts };
    const found = await selectReceipts(storage, filter, part, { limit: count - receipts.length, newestFirst: true });
    receipts.push(...found);
    const last = receipts.at(-1);
    if (receipts.length === count && last !== undefined) return { receipts, next: last.id };
    endId = part.firstId;
    read += part.isFull ? ROWS_AT_ONCE : ROWS_AT_ONCE / 10;
    await nextTurn();
  }
  return withoutAbsent({ receipts, next: endId, searchedBackToMs: timeOfId(endId) });
}

/** The calls of a request. They are admitted soon after it arrives, so the search starts there. */
async function ofRequest(storage: Storage, filter: ReceiptFilter, count: number, after?: string): Promise<ReceiptPage> {
  const found: Receipt[] = [];
  for await (const some of partsOf(storage, filter, ROWS_A_PAGE)) found.push(...some);
  const left = found.toReversed().filter(({ id }) => after === undefined || id < after);
  const receipts = left.slice(0, count);
  const last = receipts.at(-1);
  return last === undefined || left.length <= count ? { receipts } : { receipts, next: last.id };
}

/**
 * Every matching receipt in batches, oldest first, including calls that are not settled. Each batch is read on demand.
 */
export async function* readReceipts(storage: Storage, filter: ReceiptFilter): AsyncGenerator<Receipt[]> {
  const unsettled = new UnsettledCalls(storage, filter, idRangeOf(filter));
  for await (const found of partsOf(storage, filter)) {
    let rest = found;
    const lastId = found.at(-1)?.id;
    for (let some = await unsettled.next(lastId); some.length > 0; some = await unsettled.next(lastId)) {
      const upToId = some.at(-1)?.id ?? "";
      yield mergeById(
        some,
        rest.filter(({ id }) => id <= upToId),
        false,
      );
      rest = rest.filter(({ id }) => id > upToId);
    }
    if (rest.length > 0) yield rest;
  }
  for (let some = await unsettled.next(); some.length > 0; some = await unsettled.next()) yield some;
}

async function* partsOf(
  storage: Storage,
  filter: ReceiptFilter,
  maxRows = Number.POSITIVE_INFINITY,
): AsyncGenerator<Receipt[]> {
  const range = idRangeOf(filter);
  let { firstId } = range;
  for (let rows = 0; rows < maxRows; rows += ROWS_AT_ONCE) {
    const part = await nextPart(storage, filter, { firstId, endId: range.endId }, false);
    if (part === undefined) return;
    const found = await selectReceipts(storage, filter, part, { limit: ROWS_AT_ONCE, newestFirst: false });
    if (found.length > 0) yield found;
    firstId = part.endId;
    await nextTurn();
  }
}

/** The next ids to search, a bounded number; undefined if nothing else in the range can match. */
async function nextPart(
  storage: Storage,
  filter: ReceiptFilter,
  range: IdRange,
  newestFirst: boolean,
): Promise<(IdRange & { isFull: boolean }) | undefined> {
  if (range.firstId >= range.endId) return undefined;
  if (hasTrace(filter)) return { ...range, isFull: false };
  const { batch, endUser } = filter;
  const isSummed = batch === undefined && endUser === undefined && hasDimensions(filter);
  const within = isSummed ? await hourWith(storage, filter, range, newestFirst) : range;
  if (within === undefined) return undefined;
  // A part includes its first id and excludes its end.
  const bound = await selectIdAt(storage, within, {
    offset: newestFirst ? ROWS_AT_ONCE - 1 : ROWS_AT_ONCE,
    newestFirst,
    batch,
    endUser,
  });
  if (bound === undefined) return { ...within, isFull: false };
  return { ...within, ...(newestFirst ? { firstId: bound } : { endId: bound }), isFull: true };
}

async function hourWith(
  storage: Storage,
  filter: ReceiptFilter,
  { firstId, endId }: IdRange,
  newestFirst: boolean,
): Promise<IdRange | undefined> {
  const first = Math.floor((timeOfId(firstId) ?? 0) / HOUR_MS);
  const end = Math.floor((timeOfId(endId) ?? Number.MAX_SAFE_INTEGER) / HOUR_MS) + 1;
  const hour = await selectHourWith(storage, filter, [first, end], newestFirst);
  if (hour === undefined) return undefined;
  const ids = idRangeOfHour(hour);
  return {
    firstId: ids.firstId > firstId ? ids.firstId : firstId,
    endId: ids.endId < endId ? ids.endId : endId,
  };
}

/** The receipt of that id; with a project, only if it belongs to it (S09). */
export async function receiptById(storage: Storage, id: string, project?: string): Promise<Receipt | undefined> {
  const receipt = (await selectReceiptOfAny(storage, id)) ?? (await selectIntent(storage, id));
  return project === undefined || receipt?.project === project ? receipt : undefined;
}
