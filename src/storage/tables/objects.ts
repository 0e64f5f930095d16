import { withoutAbsent } from "../../base/without-absent.ts";
import type { ObjectKind, Owned, Reader } from "../../canon/ownership.ts";
import { number, optionalNumber, optionalText, readSharingColumn, text } from "../columns.ts";
import { type Parameter, type Queries, REPORT_MS, type Storage, type StoredRow } from "../storage.ts";
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
  /** What the client wants to do with a file. */
  purpose?: string;
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

export const OBJECT_COLUMNS =
  "id, kind, project, key_id, share, state, size, purpose, metadata, created_at_ms, expires_at_ms";

const BYTES_PER_MEGABYTE = 1024 ** 2;

/** The most values in one statement. */
const AT_ONCE = 500;

/** An equal request has created the object before. */
export class AlreadyMade extends Error {
  constructor(readonly object: StoredObject) {
    super(`the object ${object.id} has been made before`);
  }
}

/** Throws `AlreadyMade` if there is one of that id. */
export async function insertObject(queries: Queries, object: StoredObject): Promise<void> {
  const rows = await queries.query(
    `INSERT INTO objects (${OBJECT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id`,
    [
      object.id,
      object.kind,
      object.project,
      object.keyId,
      object.share,
      object.state,
      object.size,
      object.purpose ?? null,
      JSON.stringify(object.metadata),
      object.createdAtMs,
      object.expiresAtMs ?? null,
    ],
  );
  if (rows.length === 0) await requireNew(queries, object);
}

/** Before there is anything else to refuse about an object that is created once. */
async function requireNew(queries: Queries, { id }: StoredObject): Promise<void> {
  const [row] = await queries.query(`SELECT ${OBJECT_COLUMNS} FROM objects WHERE id = ?`, [id]);
  if (row !== undefined) throw new AlreadyMade(readObject(row));
}

/** A part of an object's content: a file of the file store. */
export interface ObjectBlob {
  blob: string;
  size: number;
}

/** The objects of a project take all of this. */
export interface FullShare {
  maxBytes: number;
}

/**
 * Inserts an object with its content if the content of the project's objects stays within its share, which is `maxBytes` unless the
 * project has its own; returns the share if it is full. Instances take turns, so that they cannot all use the same remainder. `also`
 * is part of the same transaction.
 */
export async function insertObjectWithin(
  storage: Storage,
  object: StoredObject,
  blobs: readonly ObjectBlob[],
  maxBytes: number,
  also?: (queries: Queries) => Promise<void>,
): Promise<FullShare | undefined> {
  return await storage.transaction(async (queries) => {
    const full = await lackOfSpace(storage, queries, object, maxBytes);
    if (full !== undefined) return full;
    await insertObject(queries, object);
    await insertBlobs(queries, object.id, 0, blobs);
    await also?.(queries);
    return undefined;
  });
}

/** Where the content of an object ends, for a writer that adds to it. */
interface Appended {
  /** The object must be in this state. */
  state: string;
  /** Where the new content begins: at the end of the old, if given. */
  offset?: number | undefined;
  /** For the content of all objects of the project, unless it has its own share. */
  maxBytes: number;
}

/** Adds content to an object under the same rule. `moved`: it is no longer in that state, or ends elsewhere. */
export async function appendBlobWithin(
  storage: Storage,
  { id, project }: StoredObject,
  { blob, size }: ObjectBlob,
  { state, offset, maxBytes }: Appended,
): Promise<"kept" | "moved" | FullShare> {
  return await storage.transaction(async (queries) => {
    const full = await lackOfSpace(storage, queries, { project, size }, maxBytes);
    if (full !== undefined) return full;
    const [row] = await queries.query(
      `UPDATE objects SET size = size + ? WHERE id = ? AND state = ? AND size = COALESCE(?, size)
       RETURNING (SELECT COALESCE(MAX(number), -1) + 1 FROM object_blobs WHERE object_id = ?) AS next`,
      [size, id, state, offset ?? null, id],
    );
    if (row === undefined) return "moved";
    await insertBlobs(queries, id, number(row, "next"), [{ blob, size }]);
    return "kept";
  });
}

/**
 * Makes a new object of some of another's blobs, in this order, if the other is still in the state `from`. It is then in the state
 * `to`, without content. Returns its remaining blobs, or undefined if it is not in that state any more.
 */
export async function moveBlobs(
  storage: Storage,
  other: StoredObject,
  { from, to, metadata }: { from: string; to: string; metadata: StoredObject["metadata"] },
  object: StoredObject,
  blobs: readonly string[],
): Promise<ObjectBlob[] | undefined> {
  return await storage.transaction(async (queries) => {
    const changed = await queries.query(
      "UPDATE objects SET state = ?, size = 0, metadata = ? WHERE id = ? AND state = ? RETURNING id",
      [to, JSON.stringify(metadata), other.id, from],
    );
    if (changed.length === 0) return undefined;
    await insertObject(queries, object);
    for (const [index, blob] of blobs.entries()) {
      await queries.query("UPDATE object_blobs SET object_id = ?, number = ? WHERE object_id = ? AND blob = ?", [
        object.id,
        index,
        other.id,
        blob,
      ]);
    }
    return await takeBlobs(queries, other.id);
  });
}

/** Ends an object that is in the state `from`, and returns its content, which is to be removed; undefined if it is in another. */
export async function endObject(
  storage: Storage,
  id: string,
  { from, to }: { from: string; to: string },
): Promise<ObjectBlob[] | undefined> {
  return await storage.transaction(async (queries) => {
    const changed = await queries.query(
      "UPDATE objects SET state = ?, size = 0 WHERE id = ? AND state = ? RETURNING id",
      [to, id, from],
    );
    return changed.length === 0 ? undefined : await takeBlobs(queries, id);
  });
}

async function takeBlobs(queries: Queries, id: string): Promise<ObjectBlob[]> {
  const rows = await queries.query("DELETE FROM object_blobs WHERE object_id = ? RETURNING blob, size", [id]);
  return rows.map((row) => ({ blob: text(row, "blob"), size: number(row, "size") }));
}

/**
 * Returns the project's share if adding `size` would exceed it, which is `usualBytes` unless the project has its own. Other writers
 * wait until the transaction ends.
 */
export async function lackOfSpace(
  { engine }: Storage,
  queries: Queries,
  added: Pick<StoredObject, "project" | "size">,
  usualBytes: number,
): Promise<FullShare | undefined> {
  // SQLite's transaction holds the write lock from its start; here other writers wait, and readers do not.
  if (engine === "postgres") await queries.query("LOCK TABLE objects IN SHARE ROW EXCLUSIVE MODE");
  return fullShare(queries, added, usualBytes);
}

/** The same at this moment, without a lock. */
export async function fullShare(
  queries: Queries,
  { project, size }: Pick<StoredObject, "project" | "size">,
  usualBytes: number,
): Promise<FullShare | undefined> {
  const { maxBytes, left } = await shareRoom(queries, project, usualBytes);
  return size <= left ? undefined : { maxBytes };
}

/** The share of a project, and what is left of it. */
export async function shareRoom(
  queries: Queries,
  project: string,
  usualBytes: number,
): Promise<FullShare & { left: number }> {
  const [row] = await queries.query(
    `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS total, (SELECT project_mb FROM projects WHERE id = ?) AS own_mb
     FROM objects WHERE project = ?`,
    [project, project],
  );
  if (row === undefined) throw new Error("a sum has a row");
  const ownMegabytes = optionalNumber(row, "own_mb");
  const maxBytes = ownMegabytes === undefined ? usualBytes : Math.round(ownMegabytes * BYTES_PER_MEGABYTE);
  return { maxBytes, left: maxBytes - number(row, "total") };
}

export async function insertBlobs(
  queries: Queries,
  id: string,
  from: number,
  blobs: readonly ObjectBlob[],
): Promise<void> {
  for (const [index, { blob, size }] of blobs.entries()) {
    await queries.query("INSERT INTO object_blobs (object_id, number, blob, size) VALUES (?, ?, ?, ?)", [
      id,
      from + index,
      blob,
      size,
    ]);
  }
}

/** The content of an object, in order. */
export async function selectBlobs(queries: Queries, id: string): Promise<(ObjectBlob & { number: number })[]> {
  const rows = await queries.query("SELECT number, blob, size FROM object_blobs WHERE object_id = ? ORDER BY number", [
    id,
  ]);
  return rows.map((row) => ({ number: number(row, "number"), blob: text(row, "blob"), size: number(row, "size") }));
}

/** Those of these names that are part of an object's content. */
export async function selectKnownBlobs(queries: Queries, names: readonly string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const marks = names.map(() => "?").join(", ");
  const rows = await queries.query(`SELECT blob FROM object_blobs WHERE blob IN (${marks})`, names);
  return new Set(rows.map((row) => text(row, "blob")));
}

/** Which objects to list: a page of those that the reader may see. */
export interface ObjectPage {
  kind: ObjectKind;
  purpose?: string | undefined;
  order: "asc" | "desc";
  /** Only those that follow this one, which need not exist any more. */
  after?: Pick<StoredObject, "createdAtMs" | "id"> | undefined;
  limit: number;
}

export async function listObjects(
  queries: Queries,
  { project, keyId }: Reader,
  { kind, purpose, order, after, limit }: ObjectPage,
  nowMs: number,
): Promise<StoredObject[]> {
  const conditions = [
    "project = ? AND kind = ? AND (share = 'project' OR key_id = ?) AND (expires_at_ms IS NULL OR expires_at_ms > ?)",
  ];
  const parameters: Parameter[] = [project, kind, keyId, Math.floor(nowMs)];
  if (purpose !== undefined) {
    conditions.push("purpose = ?");
    parameters.push(purpose);
  }
  if (after !== undefined) {
    conditions.push(`(created_at_ms, id) ${order === "asc" ? ">" : "<"} (?, ?)`);
    parameters.push(after.createdAtMs, after.id);
  }
  const rows = await queries.query(
    `SELECT ${OBJECT_COLUMNS} FROM objects WHERE ${conditions.join(" AND ")} ORDER BY created_at_ms ${order}, id ${order} LIMIT ?`,
    [...parameters, limit],
  );
  return rows.map(readObject);
}

/** Which objects an operator lists. */
interface ObjectFilter {
  id?: string | undefined;
  kind?: ObjectKind | undefined;
  project?: string | undefined;
  key?: string | undefined;
  state?: string | undefined;
}

/** Listed answers are objects to operators, although they are stored with the other answers. The prefix of their ids is the form's. */
const LISTED = `SELECT SUBSTR(id, LENGTH(id) - 21) AS id, 'completion' AS kind, project, key_id, share, 'stored' AS state, size,
  NULL AS purpose, '{}' AS metadata, created_at_ms, expires_at_ms FROM answers WHERE model IS NOT NULL`;

/** Objects that have not expired, newest first. */
export async function selectObjectPage(
  queries: Queries,
  { id, kind, project, key, state }: ObjectFilter,
  { limit, after }: Pick<ObjectPage, "limit" | "after">,
  nowMs: number,
): Promise<StoredObject[]> {
  const conditions = ["(expires_at_ms IS NULL OR expires_at_ms > ?)"];
  const parameters: Parameter[] = [Math.floor(nowMs)];
  for (const [column, value] of Object.entries({ id, kind, project, key_id: key, state })) {
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    parameters.push(value);
  }
  if (after !== undefined) {
    conditions.push("(created_at_ms, id) < (?, ?)");
    parameters.push(after.createdAtMs, after.id);
  }
  const sources = [
    ...(kind === "completion" ? [] : [`SELECT ${OBJECT_COLUMNS} FROM objects`]),
    ...(kind === undefined || kind === "completion" ? [LISTED] : []),
  ];
  const rows = await queries.query(
    `SELECT ${OBJECT_COLUMNS} FROM (${sources.join(" UNION ALL ")}) AS stored
     WHERE ${conditions.join(" AND ")} ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
    [...parameters, limit],
  );
  return rows.map(readObject);
}

/** The objects of a kind that are in one state. */
export interface ObjectSum {
  kind: ObjectKind;
  state: string;
  count: number;
  bytes: number;
}

/** Of all projects. Objects that have expired are counted until they are removed. */
export async function sumObjects(queries: Queries): Promise<ObjectSum[]> {
  const rows = await queries.query(
    "SELECT kind, state, COUNT(*) AS count, CAST(SUM(size) AS BIGINT) AS bytes FROM objects GROUP BY kind, state",
    [],
    REPORT_MS,
  );
  return rows.map((row) => ({
    kind: text(row, "kind") as ObjectKind,
    state: text(row, "state"),
    count: number(row, "count"),
    bytes: number(row, "bytes"),
  }));
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
      `SELECT ${OBJECT_COLUMNS} FROM objects WHERE (expires_at_ms IS NULL OR expires_at_ms > ?) AND id IN (${some.map(() => "?").join(", ")})`,
      [Math.floor(nowMs), ...some],
    );
    for (const row of rows) found.set(text(row, "id"), readObject(row));
  }
  return found;
}

/** Changes the state of an object that is in one of the states `from`, with what its kind needs. False if it is in another. */
export async function changeObject(
  queries: Queries,
  id: string,
  from: readonly string[],
  { state, metadata }: Pick<StoredObject, "state" | "metadata">,
): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE objects SET state = ?, metadata = ? WHERE id = ? AND state IN (${from.map(() => "?").join(", ")}) RETURNING id`,
    [state, JSON.stringify(metadata), id, ...from],
  );
  return rows.length === 1;
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

/** Caches are not among them: they end at their provider, and their storage is billed. */
export async function deleteExpiredObjects(queries: Queries, nowMs: number, limit: number): Promise<number> {
  const rows = await queries.query(
    `DELETE FROM objects WHERE id IN (
       SELECT id FROM objects WHERE expires_at_ms <= ? AND kind <> 'cache' ORDER BY expires_at_ms LIMIT ?) RETURNING id`,
    [Math.floor(nowMs), limit],
  );
  return rows.length;
}

export function readObject(row: StoredRow): StoredObject {
  const id = text(row, "id");
  return withoutAbsent({
    id,
    kind: text(row, "kind") as ObjectKind,
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    share: readSharingColumn(row, "share") ?? "private",
    state: text(row, "state"),
    size: number(row, "size"),
    purpose: optionalText(row, "purpose"),
    metadata: readStoredJson<StoredObject["metadata"]>(`object ${id}`, "metadata", text(row, "metadata")),
    createdAtMs: number(row, "created_at_ms"),
    expiresAtMs: optionalNumber(row, "expires_at_ms"),
  });
}
