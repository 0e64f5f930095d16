import { number, optionalText, text } from "../columns.ts";
import { type Queries, REPORT_MS, type StoredRow } from "../storage.ts";
import { readStoredJson } from "../stored-json.ts";
import { isAbandoned, isFree } from "./claims.ts";
import { isHeld } from "./held-batches.ts";
import type { StoredObject } from "./objects.ts";

/** The terms of a batch. Its state and its owner are those of its object. */
export interface BatchTerms {
  /** The random part of its id. */
  id: string;
  /** The protocol whose batch it is. */
  form: string;
  /** The path that its lines are sent to; empty if they say it themselves. */
  endpoint: string;
  deadlineAtMs: number;
}

/** The terms of a batch, and the provider whose batch API runs it. */
export interface ShownBatch extends BatchTerms {
  provider: string | undefined;
}

/** The right of a process to work on a batch or its lines. */
export interface Lease {
  owner: string;
  untilMs: number;
}

export async function insertBatch(queries: Queries, { id, form, endpoint, deadlineAtMs }: BatchTerms): Promise<void> {
  await queries.query("INSERT INTO batches (id, form, endpoint, deadline_at_ms) VALUES (?, ?, ?, ?)", [
    id,
    form,
    endpoint,
    Math.floor(deadlineAtMs),
  ]);
}

export async function selectBatches(queries: Queries, ids: readonly string[]): Promise<Map<string, ShownBatch>> {
  if (ids.length === 0) return new Map();
  const marks = ids.map(() => "?").join(", ");
  const rows = await queries.query(
    `SELECT batches.id, form, endpoint, deadline_at_ms, provider FROM batches LEFT JOIN native_batches
       ON native_batches.id = batches.id AND (provider_id IS NOT NULL OR phase <> 'ended') WHERE batches.id IN (${marks})`,
    ids,
  );
  return new Map(rows.map((row) => [text(row, "id"), { ...readTerms(row), provider: optionalText(row, "provider") }]));
}

/** A batch that is not done. */
export interface OpenBatch extends BatchTerms, Pick<StoredObject, "project" | "keyId" | "state" | "metadata"> {
  /** The process that works on it, until its lease ends. */
  leaseOwner: string | undefined;
  leaseUntilMs: number;
  /** That process has stopped or died. */
  isAbandoned: boolean;
  /** It waits for an operator. */
  isHeld: boolean;
  /** Lines of it have not ended. */
  hasLines: boolean;
}

/** Every batch that is not done, oldest first. SQLite keeps the order of a cross join: there are far fewer batches than objects. */
export async function selectOpenBatches(queries: Queries): Promise<OpenBatch[]> {
  const rows = await queries.query(
    `SELECT batches.id, form, endpoint, deadline_at_ms, lease_owner, lease_until_ms, project, key_id, state, metadata,
       CASE WHEN ${isAbandoned("batches")} THEN 1 ELSE 0 END AS abandoned,
       CASE WHEN ${isHeld("objects")} THEN 1 ELSE 0 END AS held,
       CASE WHEN EXISTS (SELECT 1 FROM batch_lines WHERE batch_id = batches.id AND state IN ('waiting', 'running', 'submitted'))
         THEN 1 ELSE 0 END AS has_lines
     FROM batches CROSS JOIN objects WHERE objects.id = batches.id
     AND objects.state IN ('validating', 'in_progress', 'cancelling') ORDER BY objects.created_at_ms, batches.id`,
  );
  return rows.map((row) => ({
    ...readTerms(row),
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    state: text(row, "state"),
    metadata: readMetadata(row),
    leaseOwner: optionalText(row, "lease_owner"),
    leaseUntilMs: number(row, "lease_until_ms"),
    isAbandoned: number(row, "abandoned") === 1,
    isHeld: number(row, "held") === 1,
    hasLines: number(row, "has_lines") === 1,
  }));
}

/** Takes the lease of a batch that no live process has, or whose lease had ended before that time. */
export async function leaseBatch(
  queries: Queries,
  id: string,
  { owner, untilMs }: Lease,
  endedBeforeMs: number,
): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE batches SET lease_owner = ?, lease_until_ms = ? WHERE id = ? AND ${isFree("batches")} RETURNING id`,
    [owner, Math.floor(untilMs), id, Math.floor(endedBeforeMs)],
  );
  return rows.length === 1;
}

/** A batch that another process has taken over is not renewed. */
export async function renewBatchLeases(queries: Queries, { owner, untilMs }: Lease): Promise<void> {
  await queries.query("UPDATE batches SET lease_until_ms = ? WHERE lease_owner = ?", [Math.floor(untilMs), owner]);
}

export async function releaseBatch(queries: Queries, id: string, owner: string): Promise<void> {
  await queries.query("UPDATE batches SET lease_owner = NULL, lease_until_ms = 0 WHERE id = ? AND lease_owner = ?", [
    id,
    owner,
  ]);
}

export async function releaseBatches(queries: Queries, owner: string): Promise<void> {
  await queries.query("UPDATE batches SET lease_owner = NULL, lease_until_ms = 0 WHERE lease_owner = ?", [owner]);
}

/** Batches that have expired, and still have lines. */
export async function selectExpiredBatches(queries: Queries, nowMs: number, limit: number): Promise<string[]> {
  const rows = await queries.query(
    `SELECT id FROM objects WHERE expires_at_ms <= ? AND kind = 'batch'
     AND EXISTS (SELECT 1 FROM batch_lines WHERE batch_id = objects.id) LIMIT ?`,
    [Math.floor(nowMs), limit],
  );
  return rows.map((row) => text(row, "id"));
}

/** A batch that ended without all of its results. */
export interface FailedBatch extends Pick<StoredObject, "id" | "project" | "keyId" | "createdAtMs" | "metadata"> {
  state: "failed" | "expired";
  endpoint: string;
}

/** Those created since then, the newest first. */
export async function selectFailedBatches(
  queries: Queries,
  { sinceMs, limit }: { sinceMs: number; limit: number },
): Promise<FailedBatch[]> {
  const rows = await queries.query(
    `SELECT objects.id AS id, project, key_id, state, endpoint, metadata, created_at_ms
     FROM objects JOIN batches ON batches.id = objects.id
     WHERE kind = 'batch' AND state IN ('failed', 'expired') AND created_at_ms >= ?
     ORDER BY created_at_ms DESC LIMIT ?`,
    [Math.floor(sinceMs), limit],
    REPORT_MS,
  );
  return rows.map((row) => ({
    id: text(row, "id"),
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    state: text(row, "state") === "expired" ? "expired" : "failed",
    endpoint: text(row, "endpoint"),
    metadata: readMetadata(row),
    createdAtMs: number(row, "created_at_ms"),
  }));
}

const readMetadata = (row: StoredRow) =>
  readStoredJson<StoredObject["metadata"]>(`batch ${text(row, "id")}`, "metadata", text(row, "metadata"));

const readTerms = (row: StoredRow): BatchTerms => ({
  id: text(row, "id"),
  form: text(row, "form"),
  endpoint: text(row, "endpoint"),
  deadlineAtMs: number(row, "deadline_at_ms"),
});
