import { bytes, number, text } from "../columns.ts";
import type { Parameter, Queries, Storage, StoredRow } from "../storage.ts";
import { type FullShare, insertObject, lackOfSpace, type StoredObject } from "./objects.ts";

/** An item of a conversation; its content is sealed. */
export interface NewConversationItem {
  id: string;
  content: Uint8Array;
  /** In bytes, before sealing: the memory needed to read it. */
  length: number;
}

/** An item without its content. Numbers ascend in the order of the conversation. */
export interface ConversationItemHead {
  number: number;
  id: string;
  length: number;
}

/** What is added to a conversation. */
interface Added {
  items: readonly NewConversationItem[];
  /** By how much the size of the object grows. */
  size: number;
  /** When the conversation expires from now on; absent: it keeps its time. */
  expiresAtMs?: number | undefined;
}

/** The most rows in one statement. */
const AT_ONCE = 100;

/** Creates a conversation within the share of its project, which is `maxBytes` unless it has its own; returns the share if it is full. */
export async function insertConversation(
  storage: Storage,
  object: StoredObject,
  items: readonly NewConversationItem[],
  maxBytes: number,
): Promise<FullShare | undefined> {
  return await storage.transaction(async (queries) => {
    const full = await lackOfSpace(storage, queries, object, maxBytes);
    if (full !== undefined) return full;
    await insertObject(queries, object);
    await queries.query("INSERT INTO conversations (id, next_number) VALUES (?, ?)", [object.id, items.length]);
    await insertItems(queries, object.id, 0, items);
    return undefined;
  });
}

/** Adds items within the share of the project. `gone`: the conversation was deleted. */
export async function addItemsWithin(
  storage: Storage,
  { id, project }: Pick<StoredObject, "id" | "project">,
  added: Added,
  maxBytes: number,
): Promise<"added" | FullShare | "gone"> {
  return await storage.transaction(async (queries) => {
    const full = await lackOfSpace(storage, queries, { project, size: added.size }, maxBytes);
    if (full !== undefined) return full;
    return (await appendItems(queries, id, added)) ? "added" : "gone";
  });
}

/**
 * Adds items at the end, as one block. False if the conversation was deleted. Call it inside a transaction. The object's row comes
 * first, as in every other transaction that changes both, so that they cannot wait for each other.
 */
export async function appendItems(queries: Queries, id: string, { items, size, expiresAtMs }: Added): Promise<boolean> {
  const found = await queries.query(
    "UPDATE objects SET size = size + ?, expires_at_ms = COALESCE(?, expires_at_ms) WHERE id = ? RETURNING id",
    [size, expiresAtMs ?? null, id],
  );
  const [row] = await queries.query(
    "UPDATE conversations SET next_number = next_number + ? WHERE id = ? RETURNING next_number",
    [items.length, id],
  );
  if (found.length === 0 || row === undefined) return false;
  await insertItems(queries, id, number(row, "next_number") - items.length, items);
  return true;
}

/** Whether it has one of these items. It cannot be changed until the end of the transaction. */
export async function hasItems(queries: Queries, id: string, items: readonly NewConversationItem[]): Promise<boolean> {
  await queries.query("UPDATE objects SET size = size WHERE id = ?", [id]);
  const ids = items.slice(0, 1).map((item) => item.id);
  return (await selectItemsById(queries, id, ids)).length > 0;
}

async function insertItems(
  queries: Queries,
  id: string,
  from: number,
  items: readonly NewConversationItem[],
): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const some = items.slice(at, at + AT_ONCE);
    const values = some.map(() => "(?, ?, ?, ?, ?)").join(", ");
    await queries.query(
      `INSERT INTO conversation_items (conversation_id, number, item_id, length, content) VALUES ${values}`,
      some.flatMap((item, index): Parameter[] => [id, from + at + index, item.id, item.length, item.content]),
    );
  }
}

/** The number and size of the items before `end`, and the number that follows the last of all. */
export async function measureItems(
  queries: Queries,
  id: string,
  end = Number.MAX_SAFE_INTEGER,
): Promise<{ count: number; length: number; next: number } | undefined> {
  const [row] = await queries.query(
    `SELECT conversations.next_number, COUNT(conversation_items.number) AS count,
       CAST(COALESCE(SUM(conversation_items.length), 0) AS BIGINT) AS length
     FROM conversations LEFT JOIN conversation_items
       ON conversation_items.conversation_id = conversations.id AND conversation_items.number < ?
     WHERE conversations.id = ? GROUP BY conversations.id, conversations.next_number`,
    [end, id],
  );
  if (row === undefined) return undefined;
  return { count: number(row, "count"), length: number(row, "length"), next: number(row, "next_number") };
}

/** Which items to read: those after or before a number, in that direction. */
export interface ItemPage {
  order: "asc" | "desc";
  after?: number | undefined;
  limit: number;
}

export async function selectItemHeads(
  queries: Queries,
  id: string,
  { order, after, limit }: ItemPage,
): Promise<ConversationItemHead[]> {
  const from = after === undefined ? "" : `AND number ${order === "asc" ? ">" : "<"} ?`;
  const rows = await queries.query(
    `SELECT number, item_id, length FROM conversation_items WHERE conversation_id = ? ${from} ORDER BY number ${order} LIMIT ?`,
    [id, ...(after === undefined ? [] : [after]), limit],
  );
  return rows.map(readHead);
}

/** The items with these ids, newest first: some hosts use an id twice. */
export async function selectItemsById(
  queries: Queries,
  id: string,
  itemIds: readonly string[],
): Promise<ConversationItemHead[]> {
  const found: ConversationItemHead[] = [];
  for (let at = 0; at < itemIds.length; at += AT_ONCE) {
    const some = itemIds.slice(at, at + AT_ONCE);
    const rows = await queries.query(
      `SELECT number, item_id, length FROM conversation_items
       WHERE conversation_id = ? AND item_id IN (${some.map(() => "?").join(", ")})`,
      [id, ...some],
    );
    found.push(...rows.map(readHead));
  }
  return found.sort((one, other) => other.number - one.number);
}

/** The content of the items with the numbers from `first` to `last`, in order. */
export async function selectItemContents(
  queries: Queries,
  id: string,
  { first, last, limit }: { first: number; last: number; limit: number },
): Promise<(NewConversationItem & ConversationItemHead)[]> {
  const rows = await queries.query(
    `SELECT number, item_id, length, content FROM conversation_items
     WHERE conversation_id = ? AND number BETWEEN ? AND ? ORDER BY number LIMIT ?`,
    [id, first, last, limit],
  );
  return rows.map((row) => ({ ...readHead(row), content: bytes(row, "content") }));
}

/** False if there was none. `sizeOf`: what an item with that much content counts. */
export async function deleteItem(
  storage: Storage,
  id: string,
  itemNumber: number,
  sizeOf: (bytes: number) => number,
): Promise<boolean> {
  return await storage.transaction(async (queries) => {
    const [row] = await queries.query(
      "DELETE FROM conversation_items WHERE conversation_id = ? AND number = ? RETURNING LENGTH(content) AS bytes",
      [id, itemNumber],
    );
    if (row === undefined) return false;
    await queries.query("UPDATE objects SET size = size - ? WHERE id = ?", [sizeOf(number(row, "bytes")), id]);
    return true;
  });
}

const readHead = (row: StoredRow): ConversationItemHead => ({
  number: number(row, "number"),
  id: text(row, "item_id"),
  length: number(row, "length"),
});
