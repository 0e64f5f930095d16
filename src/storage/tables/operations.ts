import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Operation, OperationJob, OperationPart, StoredError } from "../../canon/operation.ts";
import type { Reader } from "../../canon/ownership.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { number, optionalNumber, optionalText, readSharingColumn, text } from "../columns.ts";
import { readTags, tagsText } from "../receipts/receipt-columns.ts";
import { insertReceipt } from "../receipts/receipts.ts";
import type { Parameter, Queries, Storage, StoredRow } from "../storage.ts";

/** The worker of an operation, and until when no other may take it. */
export interface Lease {
  owner: string;
  untilMs: number;
}

const COLUMNS =
  "id, project, key_id, receipt_id, model, provider, credential, state, job, parts, error, request_digest, idempotency_key, claimed, created_at_ms, deadline_at_ms, due_at_ms, ended_at_ms, expires_at_ms, tags, share, end_user";

/** False if the project already has an operation under that idempotency key. */
export async function insertOperation(queries: Queries, operation: Operation, lease: Lease): Promise<boolean> {
  const values: Parameter[] = [
    operation.id,
    operation.project,
    operation.keyId,
    operation.receiptId,
    operation.model,
    operation.provider,
    operation.credential,
    operation.state,
    JSON.stringify(operation.job),
    encodeParts(operation.parts),
    operation.error === undefined ? null : JSON.stringify(operation.error),
    operation.requestDigest,
    operation.idempotencyKey ?? null,
    operation.claimed ? HEARD : NOT_YET,
    operation.createdAtMs,
    operation.deadlineAtMs,
    Math.ceil(operation.dueAtMs),
    operation.endedAtMs ?? null,
    operation.expiresAtMs ?? null,
    tagsText(operation.tags) ?? null,
    operation.share ?? "project",
    operation.endUser ?? null,
    lease.owner,
    Math.ceil(lease.untilMs),
  ];
  const rows = await queries.query(
    `INSERT INTO operations (${COLUMNS}, lease_owner, lease_until_ms) VALUES (${values.map(() => "?").join(", ")})
     ON CONFLICT DO NOTHING RETURNING id`,
    values,
  );
  return rows.length === 1;
}

/** Only visible to the project that created it (S09). */
export async function selectOperation(queries: Queries, project: string, id: string): Promise<Operation | undefined> {
  const [row] = await queries.query(
    `SELECT ${COLUMNS} FROM operations WHERE id = ? AND project = ? AND kind = 'video'`,
    [id, project],
  );
  return row === undefined ? undefined : readOperation(row);
}

export async function selectByIdempotencyKey(
  queries: Queries,
  project: string,
  key: string,
  sinceMs: number,
): Promise<Operation | undefined> {
  const [row] = await queries.query(
    `SELECT ${COLUMNS} FROM operations WHERE project = ? AND idempotency_key = ? AND created_at_ms >= ?`,
    [project, key, sinceMs],
  );
  return row === undefined ? undefined : readOperation(row);
}

/** Makes an old operation's idempotency key available again. */
export async function forgetIdempotencyKey(
  queries: Queries,
  project: string,
  key: string,
  beforeMs: number,
): Promise<void> {
  await queries.query(
    "UPDATE operations SET idempotency_key = NULL WHERE project = ? AND idempotency_key = ? AND created_at_ms < ?",
    [project, key, beforeMs],
  );
}

/** Jobs are polled more often than this. */
const LATEST_DUE_MS = 3_600_000;

/** Whether the client has received the operation's name: not yet, yes, or it disconnected before. */
const NOT_YET = 0;
const HEARD = 1;
const LEFT = 2;

/**
 * An operation of the same request whose client disconnected before it received the name, or whose process died before
 * that: the client is retrying. Only one call gets it. While a client waits for its response, an equal request is a
 * new one.
 */
export async function claimUnheard(
  queries: Queries,
  keyId: string,
  requestDigest: string,
  sinceMs: number,
  nowMs: number,
): Promise<Operation | undefined> {
  const unheard = `(claimed = ${LEFT} OR (claimed = ${NOT_YET} AND lease_until_ms < ?))`;
  const [row] = await queries.query(
    `UPDATE operations SET claimed = ${HEARD} WHERE ${unheard} AND id = (
       SELECT id FROM operations WHERE key_id = ? AND request_digest = ? AND ${unheard} AND state <> 'failed'
         AND created_at_ms >= ? AND idempotency_key IS NULL
       ORDER BY created_at_ms LIMIT 1)
     RETURNING ${COLUMNS}`,
    [Math.round(nowMs), keyId, requestDigest, Math.round(nowMs), Math.round(sinceMs)],
  );
  return row === undefined ? undefined : readOperation(row);
}

export async function markHeard(queries: Queries, id: string): Promise<void> {
  await queries.query(`UPDATE operations SET claimed = ${HEARD} WHERE id = ?`, [id]);
}

export async function markUnheard(queries: Queries, id: string): Promise<void> {
  await queries.query(`UPDATE operations SET claimed = ${LEFT} WHERE id = ?`, [id]);
}

/** Leases operations that are due and have no worker. */
export async function leaseDue(queries: Queries, lease: Lease, nowMs: number, limit: number): Promise<Operation[]> {
  const now = Math.floor(nowMs);
  const rows = await queries.query(
    `UPDATE operations SET lease_owner = ?, lease_until_ms = ?
     WHERE lease_until_ms < ? AND due_at_ms <= ? AND state IN ('submitting', 'running') AND id IN (
       SELECT id FROM operations WHERE kind = 'video' AND state IN ('submitting', 'running') AND due_at_ms <= ? AND lease_until_ms < ?
       ORDER BY due_at_ms LIMIT ?)
     RETURNING ${COLUMNS}`,
    [lease.owner, Math.ceil(lease.untilMs), now, now, now, now, limit],
  );
  return rows.map(readOperation);
}

/** False if the lease is lost: another worker took it after it expired. */
export async function renewLease(queries: Queries, id: string, lease: Lease): Promise<boolean> {
  const rows = await queries.query(
    "UPDATE operations SET lease_until_ms = ? WHERE id = ? AND lease_owner = ? RETURNING id",
    [Math.ceil(lease.untilMs), id, lease.owner],
  );
  return rows.length === 1;
}

/** Saves the state of an operation; `release` also releases the lease. False if the lease is lost. */
export async function saveOperation(
  queries: Queries,
  operation: Operation,
  owner: string,
  release: boolean,
): Promise<boolean> {
  const lease = release ? ", lease_owner = NULL, lease_until_ms = 0" : "";
  const rows = await queries.query(
    `UPDATE operations SET state = ?, provider = ?, credential = ?, job = ?, parts = ?, due_at_ms = ?${lease}
     WHERE id = ? AND lease_owner = ? RETURNING id`,
    [
      operation.state,
      operation.provider,
      operation.credential,
      JSON.stringify(operation.job),
      encodeParts(operation.parts),
      Math.ceil(operation.dueAtMs),
      operation.id,
      owner,
    ],
  );
  return rows.length === 1;
}

/** Saves the final state and the bill in one transaction, so that it is billed once. False if the lease is lost. */
export async function endOperation(
  storage: Storage,
  operation: Operation,
  receipt: Receipt,
  owner: string,
): Promise<boolean> {
  return storage.transaction(async (queries) => {
    const rows = await queries.query(
      `UPDATE operations SET state = ?, job = ?, parts = ?, error = ?, ended_at_ms = ?, expires_at_ms = ?,
         lease_owner = NULL, lease_until_ms = 0
       WHERE id = ? AND lease_owner = ? AND state IN ('submitting', 'running') RETURNING id`,
      [
        operation.state,
        JSON.stringify(operation.job),
        encodeParts(operation.parts),
        operation.error === undefined ? null : JSON.stringify(operation.error),
        operation.endedAtMs ?? null,
        operation.expiresAtMs ?? null,
        operation.id,
        owner,
      ],
    );
    if (rows.length !== 1) return false;
    await insertReceipt(queries, receipt, storage.engine);
    return true;
  });
}

/** Operations that have not ended: their estimated cost is still reserved. */
export async function selectOpenOperations(queries: Queries): Promise<Operation[]> {
  const rows = await queries.query(
    `SELECT ${COLUMNS} FROM operations WHERE kind = 'video' AND state IN ('submitting', 'running')`,
  );
  return rows.map(readOperation);
}

/** For operators: includes background work. */
export interface ListedOperation extends Operation {
  kind: "video" | "answer";
}

export interface OperationFilter {
  project?: string;
  model?: string;
  provider?: string;
  key?: string;
  state?: Operation["state"];
}

const FILTERS: readonly [name: keyof OperationFilter, column: string][] = [
  ["project", "project"],
  ["model", "model"],
  ["provider", "provider"],
  ["key", "key_id"],
  ["state", "state"],
];

/** Newest first; `after`: the last one of the previous page. */
export async function selectOperationPage(
  queries: Queries,
  filter: OperationFilter,
  { limit, after }: { limit: number; after?: { createdAtMs: number; id: string } },
): Promise<ListedOperation[]> {
  const conditions = ["1 = 1"];
  const parameters: Parameter[] = [];
  for (const [name, column] of FILTERS) {
    const value = filter[name];
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    parameters.push(value);
  }
  if (after !== undefined) {
    conditions.push("(created_at_ms < ? OR (created_at_ms = ? AND id < ?))");
    parameters.push(after.createdAtMs, after.createdAtMs, after.id);
  }
  const rows = await queries.query(
    `SELECT ${COLUMNS}, kind FROM operations WHERE ${conditions.join(" AND ")} ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
    [...parameters, limit],
  );
  return rows.map(readListed);
}

export async function selectListedOperation(queries: Queries, id: string): Promise<ListedOperation | undefined> {
  const [row] = await queries.query(`SELECT ${COLUMNS}, kind FROM operations WHERE id = ?`, [id]);
  return row === undefined ? undefined : readListed(row);
}

const readListed = (row: StoredRow): ListedOperation => ({
  ...readOperation(row),
  kind: text(row, "kind") === "answer" ? "answer" : "video",
});

/**
 * Makes the worker of an unfinished video cancel it: its deadline is set to its start, which no other operation has.
 * False if it has ended.
 */
export async function cancelVideo(queries: Queries, id: string): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE operations SET deadline_at_ms = created_at_ms, due_at_ms = 0
     WHERE id = ? AND kind = 'video' AND state IN ('submitting', 'running') RETURNING id`,
    [id],
  );
  return rows.length === 1;
}

/** The most ids in one statement. */
const IDS_AT_ONCE = 500;

/** The operations that have ended. */
export async function selectEndedOperations(queries: Queries, ids: readonly string[]): Promise<Operation[]> {
  const ended: Operation[] = [];
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const some = ids.slice(from, from + IDS_AT_ONCE);
    const placeholders = some.map(() => "?").join(", ");
    const rows = await queries.query(
      `SELECT ${COLUMNS} FROM operations WHERE id IN (${placeholders}) AND state IN ('done', 'failed')`,
      some,
    );
    ended.push(...rows.map(readOperation));
  }
  return ended;
}

/** When the next operation without a worker is due, or a lease expires. */
export async function selectNextDue(queries: Queries): Promise<number | undefined> {
  const [row] = await queries.query(
    `SELECT MIN(CASE WHEN lease_until_ms > due_at_ms THEN lease_until_ms ELSE due_at_ms END) AS due
     FROM operations WHERE kind = 'video' AND state IN ('submitting', 'running')`,
  );
  return row === undefined ? undefined : optionalNumber(row, "due");
}

/**
 * No process writes leases that end so late, or work that is due so late: they come from a clock that was ahead and
 * has been set back (H30). Such a lease ends after one lease time, and such work is due now.
 */
export async function shortenLeases(queries: Queries, nowMs: number, leaseMs: number): Promise<void> {
  const now = Math.floor(nowMs);
  const latest = Math.ceil(nowMs + leaseMs);
  await queries.query(
    "UPDATE operations SET lease_until_ms = ? WHERE state IN ('submitting', 'running') AND lease_until_ms > ?",
    [latest, latest + Math.ceil(leaseMs)],
  );
  await queries.query(
    "UPDATE operations SET due_at_ms = ? WHERE kind = 'video' AND state IN ('submitting', 'running') AND due_at_ms > ?",
    [now, now + LATEST_DUE_MS],
  );
}

/** A row is kept this long after the operation ended, so that every process releases the money it holds for it. */
const FOLLOWED_MS = 60_000;

export async function deleteExpiredOperations(queries: Queries, nowMs: number): Promise<number> {
  const rows = await queries.query(
    "DELETE FROM operations WHERE state IN ('done', 'failed') AND expires_at_ms < ? AND ended_at_ms < ? RETURNING id",
    [Math.floor(nowMs), Math.floor(nowMs) - FOLLOWED_MS],
  );
  return rows.length;
}

/** The videos of a reader. One whose client never received its name is left out. */
export async function selectVideoPage(
  queries: Queries,
  { project, keyId }: Reader,
  { limit, after, order, nowMs }: VideoPage,
): Promise<Operation[]> {
  const [before, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const beyond =
    after === undefined ? "" : ` AND (created_at_ms ${before} ? OR (created_at_ms = ? AND id ${before} ?))`;
  const rows = await queries.query(
    `SELECT ${COLUMNS} FROM operations
     WHERE kind = 'video' AND project = ? AND (share = 'project' OR key_id = ?) AND claimed <> ${NOT_YET}
       AND (expires_at_ms IS NULL OR expires_at_ms > ?)${beyond}
     ORDER BY created_at_ms ${direction}, id ${direction} LIMIT ?`,
    [
      project,
      keyId,
      Math.floor(nowMs),
      ...(after === undefined ? [] : [after.createdAtMs, after.createdAtMs, after.id]),
      limit,
    ],
  );
  return rows.map(readOperation);
}

export interface VideoPage {
  limit: number;
  /** The last one of the previous page. */
  after?: Pick<Operation, "id" | "createdAtMs"> | undefined;
  order: "asc" | "desc";
  nowMs: number;
}

/** Ends the time for which an ended operation is kept. False if it is still in progress, or gone. */
export async function expireOperation(queries: Queries, id: string, nowMs: number): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE operations SET expires_at_ms = ?, idempotency_key = NULL
     WHERE id = ? AND kind = 'video' AND state IN ('done', 'failed') RETURNING id`,
    [Math.floor(nowMs), id],
  );
  return rows.length === 1;
}

function readOperation(row: StoredRow): Operation {
  const error = optionalText(row, "error");
  const idempotencyKey = optionalText(row, "idempotency_key");
  const endedAtMs = optionalNumber(row, "ended_at_ms");
  const expiresAtMs = optionalNumber(row, "expires_at_ms");
  return withoutAbsent({
    id: text(row, "id"),
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    receiptId: text(row, "receipt_id"),
    model: text(row, "model"),
    provider: text(row, "provider"),
    credential: text(row, "credential"),
    state: text(row, "state") as Operation["state"],
    job: JSON.parse(text(row, "job")) as OperationJob,
    parts: decodeParts(text(row, "parts")),
    error: error === undefined ? undefined : (JSON.parse(error) as StoredError),
    requestDigest: text(row, "request_digest"),
    idempotencyKey,
    claimed: number(row, "claimed") === HEARD,
    createdAtMs: number(row, "created_at_ms"),
    deadlineAtMs: number(row, "deadline_at_ms"),
    dueAtMs: number(row, "due_at_ms"),
    endedAtMs,
    expiresAtMs,
    share: readSharingColumn(row, "share"),
    endUser: optionalText(row, "end_user"),
    ...readTags(row),
  });
}

type StoredPart = Omit<OperationPart, "providerJob"> & { ticket?: JsonObject };

/** Rows call the provider's job `ticket`. */
const encodeParts = (parts: readonly OperationPart[]): string =>
  JSON.stringify(
    parts.map(({ providerJob, ...part }): StoredPart => (providerJob ? { ...part, ticket: providerJob } : part)),
  );

const decodeParts = (stored: string): OperationPart[] =>
  (JSON.parse(stored) as StoredPart[]).map(({ ticket, ...part }) => (ticket ? { ...part, providerJob: ticket } : part));
