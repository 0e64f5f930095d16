import { withoutAbsent } from "../../base/without-absent.ts";

import type { ObjectKind, Owned } from "../../canon/ownership.ts";
import { number, optionalNumber, readSharingColumn, text } from "../columns.ts";
import type { Parameter, Queries, StoredRow } from "../storage.ts";
import { readStoredJson } from "../stored-json.ts";

/** An object that a client created. Its content is stored elsewhere. */
export interface StoredObject extends Owned {
  /** The random part that all forms of its id share. */
  id: string;
  kind: ObjectKind;
  keyId: string;
  /** In the terms of its kind, such as `uploaded` or `in_progress`. */
  state: string;
  /** In bytes. */
  size: number;
  /** Data that its kind needs. */
  metadata: Readonly<Record<string, unknown>>;
  createdAtMs: number;
  /** Absent: it stays until it is deleted. */
  expiresAtMs?: number;
}

/** An object at one credential's provider. */
export interface ObjectCopy {
  credential: string;
  providerId: string;
  /** When the provider deletes it, if known. */
  expiresAtMs?: number;
}

const COLUMNS = "id, kind, project, key_id, share, state, size, metadata, created_at_ms, expires_at_ms";

/** The most values in one statement. */
const AT_ONCE = 500;

export async function insertObject(queries: Queries, object: StoredObject): Promise<void> {
  await queries.query(`INSERT INTO objects (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    object.id,
    object.kind,
    object.project,
    object.keyId,
    object.share,
    object.state,
    object.size,
    JSON.stringify(object.metadata),
    object.createdAtMs,
    object.expiresAtMs ?? null,
  ]);
}

/** The objects of any project that have not expired, by id. */
export async function selectObjects(
  queries: Queries,
  ids: readonly string[],
  nowMs: number,
): Promise<Map<string, StoredObject>> {
  const found = new Map<string, StoredObject>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some: readonly Parameter[] = ids.slice(from, from + AT_ONCE);
    const rows = await queries.query(
      `SELECT ${COLUMNS} FROM objects WHERE (expires_at_ms IS NULL OR expires_at_ms > ?) AND id IN (${some.map(() => "?").join(", ")})`,
      [Math.floor(nowMs), ...some],
    );
    for (const row of rows) found.set(text(row, "id"), readObject(row));
  }
  return found;
}

/** Records a provider's id of an object; a later id replaces an earlier one. */
export async function writeObjectCopy(queries: Queries, objectId: string, copy: ObjectCopy): Promise<void> {
  await queries.query(
    `INSERT INTO object_copies (object_id, credential, provider_id, expires_at_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT (object_id, credential) DO UPDATE SET provider_id = excluded.provider_id, expires_at_ms = excluded.expires_at_ms`,
    [objectId, copy.credential, copy.providerId, copy.expiresAtMs ?? null],
  );
}

/** The copies of an object that its providers still have. */
export async function selectObjectCopies(queries: Queries, objectId: string, nowMs: number): Promise<ObjectCopy[]> {
  const rows = await queries.query(
    `SELECT credential, provider_id, expires_at_ms FROM object_copies
     WHERE object_id = ? AND (expires_at_ms IS NULL OR expires_at_ms > ?) ORDER BY credential`,
    [objectId, Math.floor(nowMs)],
  );
  return rows.map((row) =>
    withoutAbsent({
      credential: text(row, "credential"),
      providerId: text(row, "provider_id"),
      expiresAtMs: optionalNumber(row, "expires_at_ms"),
    }),
  );
}

/** False if there was none. Its copies are deleted with it. */
export async function deleteObject(queries: Queries, id: string): Promise<boolean> {
  return (await queries.query("DELETE FROM objects WHERE id = ? RETURNING id", [id])).length === 1;
}

export async function deleteExpiredObjects(queries: Queries, nowMs: number, limit: number): Promise<number> {
  const rows = await queries.query(
    `DELETE FROM objects WHERE id IN (
       SELECT id FROM objects WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?) RETURNING id`,
    [Math.floor(nowMs), limit],
  );
  return rows.length;
}

function readObject(row: StoredRow): StoredObject {
  const id = text(row, "id");
  return withoutAbsent({
    id,
    kind: text(row, "kind") as ObjectKind,
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    share: readSharingColumn(row, "share") ?? "private",
    state: text(row, "state"),
    size: number(row, "size"),
    metadata: readStoredJson<StoredObject["metadata"]>(`object ${id}`, "metadata", text(row, "metadata")),
    createdAtMs: number(row, "created_at_ms"),
    expiresAtMs: optionalNumber(row, "expires_at_ms"),
  });
}
