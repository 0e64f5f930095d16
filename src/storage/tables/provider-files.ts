import { withoutAbsent } from "../../base/without-absent.ts";
import { number, optionalNumber, optionalText, text } from "../columns.ts";
import type { Queries, StoredRow } from "../storage.ts";

/** An uploaded file at a provider, for one credential. */
export interface ProviderFile {
  objectId: string;
  /** A digest of the files API's base URL and the credential. */
  credential: string;
  /** The provider's name in the configuration. */
  provider: string;
  /** Absent while it is uploaded. */
  providerId?: string;
  /** Of whoever uploads or deletes it. */
  uploadId: string;
  leaseUntilMs: number;
  createdAtMs: number;
  /** When the provider deletes it, if it says so. */
  expiresAtMs?: number;
}

type Place = Pick<ProviderFile, "objectId" | "credential">;

const COLUMNS = "object_id, credential, provider, provider_id, upload_id, lease_until_ms, created_at_ms, expires_at_ms";

/** A file that one credential has, or that is being uploaded to it. */
export async function selectProviderFile(
  queries: Queries,
  { objectId, credential }: Place,
): Promise<ProviderFile | undefined> {
  const [row] = await queries.query(`SELECT ${COLUMNS} FROM provider_files WHERE object_id = ? AND credential = ?`, [
    objectId,
    credential,
  ]);
  return row === undefined ? undefined : readFile(row);
}

/**
 * Takes the right to upload a file. False if it is there for longer than `neededUntilMs`, or another process has the right. Whoever
 * had it and let the lease expire has lost it.
 */
export async function claimUpload(
  queries: Queries,
  { objectId, credential, provider, uploadId, leaseUntilMs }: Omit<ProviderFile, "createdAtMs">,
  { nowMs, neededUntilMs }: { nowMs: number; neededUntilMs: number },
): Promise<boolean> {
  const now = Math.floor(nowMs);
  const rows = await queries.query(
    `INSERT INTO provider_files (object_id, credential, provider, provider_id, upload_id, lease_until_ms, created_at_ms)
     VALUES (?, ?, ?, NULL, ?, ?, ?)
     ON CONFLICT (object_id, credential) DO UPDATE SET provider = excluded.provider, provider_id = NULL,
       upload_id = excluded.upload_id, lease_until_ms = excluded.lease_until_ms, created_at_ms = excluded.created_at_ms,
       expires_at_ms = NULL
     WHERE (provider_files.provider_id IS NULL AND provider_files.lease_until_ms < ?)
       OR (provider_files.provider_id IS NOT NULL AND provider_files.expires_at_ms < ?)
     RETURNING object_id`,
    [objectId, credential, provider, uploadId, Math.floor(leaseUntilMs), now, now, Math.floor(neededUntilMs)],
  );
  return rows.length === 1;
}

export async function renewUpload(queries: Queries, uploadId: string, place: Place, untilMs: number): Promise<void> {
  await queries.query(
    "UPDATE provider_files SET lease_until_ms = ? WHERE object_id = ? AND credential = ? AND upload_id = ?",
    [Math.floor(untilMs), place.objectId, place.credential, uploadId],
  );
}

/** False if another process has taken over the upload: this file must then be deleted at the provider. */
export async function finishUpload(
  queries: Queries,
  {
    objectId,
    credential,
    uploadId,
    providerId,
    expiresAtMs,
  }: Place & { uploadId: string; providerId: string; expiresAtMs: number | undefined },
): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE provider_files SET provider_id = ?, expires_at_ms = ?, lease_until_ms = 0
     WHERE object_id = ? AND credential = ? AND upload_id = ? AND provider_id IS NULL RETURNING object_id`,
    [providerId, expiresAtMs === undefined ? null : Math.floor(expiresAtMs), objectId, credential, uploadId],
  );
  return rows.length === 1;
}

/** Forgets an upload that failed. */
export async function dropUpload(queries: Queries, uploadId: string, { objectId, credential }: Place): Promise<void> {
  await queries.query(
    "DELETE FROM provider_files WHERE object_id = ? AND credential = ? AND upload_id = ? AND provider_id IS NULL",
    [objectId, credential, uploadId],
  );
}

/** Forgets a file that its provider does not have any more, unless it was uploaded again meanwhile. */
export async function dropProviderFile(
  queries: Queries,
  { objectId, credential, providerId }: Place & { providerId: string },
): Promise<void> {
  await queries.query("DELETE FROM provider_files WHERE object_id = ? AND credential = ? AND provider_id = ?", [
    objectId,
    credential,
    providerId,
  ]);
}

/** Takes the right to delete files at their providers whose objects are gone. */
export async function claimLeftFiles(
  queries: Queries,
  { owner, leaseUntilMs, nowMs, limit }: { owner: string; leaseUntilMs: number; nowMs: number; limit: number },
): Promise<ProviderFile[]> {
  const now = Math.floor(nowMs);
  const rows = await queries.query(
    `UPDATE provider_files SET upload_id = ?, lease_until_ms = ?
     WHERE (object_id, credential) IN (
       SELECT object_id, credential FROM provider_files
       WHERE lease_until_ms < ? AND NOT EXISTS (
         SELECT 1 FROM objects WHERE objects.id = provider_files.object_id
           AND (objects.expires_at_ms IS NULL OR objects.expires_at_ms > ?))
       LIMIT ?)
     AND lease_until_ms < ? RETURNING ${COLUMNS}`,
    [owner, Math.floor(leaseUntilMs), now, now, limit, now],
  );
  return rows.map(readFile);
}

/** Forgets what providers have deleted by themselves. */
export async function deleteExpiredProviderFiles(queries: Queries, nowMs: number): Promise<void> {
  await queries.query("DELETE FROM provider_files WHERE provider_id IS NOT NULL AND expires_at_ms <= ?", [
    Math.floor(nowMs),
  ]);
}

/** A row that cannot be acted on: forgets it, whatever it says. */
export async function forgetLeftFile(
  queries: Queries,
  { objectId, credential, uploadId }: ProviderFile,
): Promise<void> {
  await queries.query("DELETE FROM provider_files WHERE object_id = ? AND credential = ? AND upload_id = ?", [
    objectId,
    credential,
    uploadId,
  ]);
}

/** The names of the providers that have a copy of these objects. */
export async function selectCopyProviders(
  queries: Queries,
  objectIds: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  if (objectIds.length === 0) return found;
  const rows = await queries.query(
    `SELECT object_id, provider FROM provider_files
     WHERE provider_id IS NOT NULL AND object_id IN (${objectIds.map(() => "?").join(", ")}) ORDER BY provider`,
    objectIds,
  );
  for (const row of rows) {
    const id = text(row, "object_id");
    const names = found.get(id) ?? [];
    const provider = text(row, "provider");
    if (!names.includes(provider)) found.set(id, [...names, provider]);
  }
  return found;
}

const readFile = (row: StoredRow): ProviderFile =>
  withoutAbsent({
    objectId: text(row, "object_id"),
    credential: text(row, "credential"),
    provider: text(row, "provider"),
    providerId: optionalText(row, "provider_id"),
    uploadId: text(row, "upload_id"),
    leaseUntilMs: number(row, "lease_until_ms"),
    createdAtMs: number(row, "created_at_ms"),
    expiresAtMs: optionalNumber(row, "expires_at_ms"),
  });
