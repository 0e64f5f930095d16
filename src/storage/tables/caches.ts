import type { Receipt } from "../../canon/receipt.ts";
import { insertReceipt } from "../receipts/receipts.ts";
import type { Storage } from "../storage.ts";
import { OBJECT_COLUMNS, type ObjectCopy, readObject, type StoredObject, writeObjectCopy } from "./objects.ts";

/** Caches of all projects in any state, those that expire first at first. Expired ones are included: their storage is not billed yet. */
export async function selectCaches(
  storage: Storage,
  after: Pick<StoredObject, "id" | "expiresAtMs"> | undefined,
  limit: number,
): Promise<StoredObject[]> {
  const rows = await storage.query(
    `SELECT ${OBJECT_COLUMNS} FROM objects WHERE kind = 'cache' AND (expires_at_ms, id) > (?, ?) ORDER BY expires_at_ms, id LIMIT ?`,
    [after?.expiresAtMs ?? -1, after?.id ?? "", limit],
  );
  return rows.map(readObject);
}

/** How many caches a project has. */
export async function countCaches(storage: Storage, project: string): Promise<number> {
  const [row] = await storage.query("SELECT COUNT(*) AS caches FROM objects WHERE kind = 'cache' AND project = ?", [
    project,
  ]);
  return Number(row?.["caches"] ?? 0);
}

/** What a cache becomes. */
export type NextCache = Pick<StoredObject, "state" | "metadata"> & { expiresAtMs: number };

/** What is stored together with the change: the provider's id of a cache, and the bill for its storage. */
interface CacheRecords {
  copy?: ObjectCopy | undefined;
  receipt?: Receipt | undefined;
}

/**
 * Changes a cache, or ends it if it becomes nothing, and bills its storage in the same transaction. False if it is not as it was:
 * another request or process was faster, and has billed it.
 */
export async function changeCache(
  storage: Storage,
  { id, metadata }: StoredObject,
  next: NextCache | undefined,
  { copy, receipt }: CacheRecords,
): Promise<boolean> {
  const before = JSON.stringify(metadata);
  return await storage.transaction(async (queries) => {
    const rows =
      next === undefined
        ? await queries.query("DELETE FROM objects WHERE id = ? AND metadata = ? RETURNING id", [id, before])
        : await queries.query(
            "UPDATE objects SET state = ?, metadata = ?, expires_at_ms = ? WHERE id = ? AND metadata = ? RETURNING id",
            [next.state, JSON.stringify(next.metadata), Math.floor(next.expiresAtMs), id, before],
          );
    if (rows.length !== 1) return false;
    if (copy !== undefined) await writeObjectCopy(queries, id, copy);
    if (receipt !== undefined) await insertReceipt(queries, receipt, storage.engine);
    return true;
  });
}
