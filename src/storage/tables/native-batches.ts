import type { Receipt } from "../../canon/receipt.ts";
import { number, optionalText, text } from "../columns.ts";
import { insertReceipt } from "../receipts/receipts.ts";
import type { Queries, Storage, StoredRow } from "../storage.ts";
import type { LineResult } from "./batch-lines.ts";
import type { BatchTerms } from "./batches.ts";
import { FAR_MS, isFree } from "./claims.ts";
import { isHeld } from "./held-batches.ts";

/**
 * `new`: nothing was submitted. `creating`: the provider may have created it. `running`: its id is known. `ended`: every line has ended,
 * or was given back to the gateway's own queue.
 */
export type NativePhase = "new" | "creating" | "running" | "ended";

/** A batch at a provider's batch API. */
export interface NativeBatch extends BatchTerms {
  /** The id of the target that it was prepared for. */
  target: string;
  provider: string;
  /** A digest of the provider's base URL and credential. No other credential can see its batch. */
  credential: string;
  marker: string;
  phase: NativePhase;
  /** How many lines were sent. */
  lineCount: number;
  /** The headers that its lines share. */
  headers: Readonly<Record<string, string>>;
  providerId: string | undefined;
  /** How often it was submitted. */
  tries: number;
  sentAtMs: number;
  polledAtMs: number;
  cancelSent: boolean;
}

interface Lease {
  owner: string;
  untilMs: number;
}

/** A line that the provider has. */
export interface SubmittedLine {
  line: number;
  customId: string;
  start: number;
  size: number;
  /** Its request as the provider was sent it, where guards have changed it. */
  sent: string | undefined;
}

const COLUMNS = `native_batches.id, form, endpoint, deadline_at_ms, target, provider, credential, marker, phase, line_count, headers,
  provider_id, tries, sent_at_ms, polled_at_ms, cancel_sent`;

export async function insertNativeBatch(
  queries: Queries,
  {
    id,
    target,
    provider,
    credential,
    marker,
  }: Pick<NativeBatch, "id" | "target" | "provider" | "credential" | "marker">,
): Promise<void> {
  await queries.query(
    "INSERT INTO native_batches (id, target, provider, credential, marker, phase) VALUES (?, ?, ?, ?, ?, 'new')",
    [id, target, provider, credential, marker],
  );
}

/** A choice that a crash interrupted is made again. */
export async function deleteNativeBatch(queries: Queries, id: string): Promise<void> {
  await queries.query("DELETE FROM native_batches WHERE id = ?", [id]);
}

/** A provider that could not be asked to cancel a batch is asked again after this time. */
const CANCEL_AGAIN_MS = 2_000;

/** Takes the lease of a batch that has something to do now, and that no live process works on. */
export async function leaseNativeBatch(
  queries: Queries,
  { owner, untilMs }: Lease,
  nowMs: number,
  endedBeforeMs = nowMs,
): Promise<NativeBatch | undefined> {
  const [now, endedBefore] = [Math.floor(nowMs), Math.floor(endedBeforeMs)];
  const [leased] = await queries.query(
    `UPDATE native_batches SET lease_owner = ?, lease_until_ms = ? WHERE id IN (
       SELECT due.id FROM native_batches AS due
         JOIN objects ON objects.id = due.id JOIN batches ON batches.id = due.id
       WHERE phase <> 'ended' AND objects.state IN ('in_progress', 'cancelling') AND NOT ${isHeld("objects")}
         AND ${isFree("due")}
         AND (due_at_ms <= ? OR due_at_ms > ?
           OR (phase <> 'creating' AND cancel_sent = 0 AND polled_at_ms <= ?
             AND (objects.state = 'cancelling' OR deadline_at_ms <= ?)))
       ORDER BY due_at_ms LIMIT 1)
     AND ${isFree("native_batches")} RETURNING id`,
    [owner, Math.floor(untilMs), endedBefore, now, now + FAR_MS, now - CANCEL_AGAIN_MS, now, endedBefore],
  );
  return leased === undefined ? undefined : await selectNativeBatch(queries, text(leased, "id"));
}

export async function renewNativeLease(queries: Queries, id: string, { owner, untilMs }: Lease): Promise<void> {
  await queries.query("UPDATE native_batches SET lease_until_ms = ? WHERE id = ? AND lease_owner = ?", [
    Math.floor(untilMs),
    id,
    owner,
  ]);
}

export async function releaseNativeBatch(queries: Queries, id: string, owner: string): Promise<void> {
  await queries.query("UPDATE native_batches SET lease_until_ms = 0 WHERE id = ? AND lease_owner = ?", [id, owner]);
}

export async function selectNativeBatch(queries: Queries, id: string): Promise<NativeBatch | undefined> {
  const [row] = await queries.query(
    `SELECT ${COLUMNS} FROM native_batches JOIN batches ON batches.id = native_batches.id WHERE native_batches.id = ?`,
    [id],
  );
  return row === undefined ? undefined : readNative(row);
}

/** Changes that are made while the lease is held. */
export interface NativeChange {
  phase?: NativePhase;
  marker?: string;
  lineCount?: number;
  headers?: Readonly<Record<string, string>>;
  providerId?: string;
  tries?: number;
  sentAtMs?: number;
  polledAtMs?: number;
  dueAtMs?: number;
  cancelSent?: boolean;
}

export async function changeNativeBatch(queries: Queries, id: string, change: NativeChange): Promise<void> {
  const columns: [string, string | number][] = [];
  const add = (column: string, value: string | number | undefined) => {
    if (value !== undefined) columns.push([column, typeof value === "number" ? Math.floor(value) : value]);
  };
  add("phase", change.phase);
  add("marker", change.marker);
  add("line_count", change.lineCount);
  add("headers", change.headers && JSON.stringify(change.headers));
  add("provider_id", change.providerId);
  add("tries", change.tries);
  add("sent_at_ms", change.sentAtMs);
  add("polled_at_ms", change.polledAtMs);
  add("due_at_ms", change.dueAtMs);
  add("cancel_sent", change.cancelSent === undefined ? undefined : Number(change.cancelSent));
  await queries.query(
    `UPDATE native_batches SET ${columns.map(([column]) => `${column} = ?`).join(", ")} WHERE id = ?`,
    [...columns.map(([, value]) => value), id],
  );
}

/** Records that the provider may create the batch from now on. False if another process has taken it over, and may do that itself. */
export async function beginCreation(
  storage: Storage,
  { id, headers, lineCount, tries }: Pick<NativeBatch, "id" | "headers" | "lineCount" | "tries">,
  owner: string,
  { sentAtMs, dueAtMs }: { sentAtMs: number; dueAtMs: number },
): Promise<boolean> {
  return await storage.transaction(async (queries) => {
    const rows = await queries.query(
      "UPDATE native_batches SET phase = 'creating' WHERE id = ? AND phase = 'new' AND lease_owner = ? RETURNING id",
      [id, owner],
    );
    if (rows.length === 0) return false;
    await changeNativeBatch(queries, id, { headers, lineCount, tries, sentAtMs, dueAtMs });
    return true;
  });
}

/** Makes a running batch due, unless it was polled since. False if it is not due. */
export async function wantPoll(queries: Queries, id: string, sinceMs: number): Promise<boolean> {
  const [row] = await queries.query("SELECT polled_at_ms FROM native_batches WHERE id = ? AND phase = 'running'", [id]);
  if (row === undefined || number(row, "polled_at_ms") > sinceMs) return false;
  const rows = await queries.query(
    "UPDATE native_batches SET due_at_ms = 0 WHERE id = ? AND phase = 'running' AND polled_at_ms <= ? RETURNING id",
    [id, Math.floor(sinceMs)],
  );
  return rows.length === 1;
}

/** Whether a batch of the provider belongs to another batch than this one. */
export async function belongsToOther(queries: Queries, id: string, providerId: string): Promise<boolean> {
  const rows = await queries.query("SELECT id FROM native_batches WHERE provider_id = ? AND id <> ?", [providerId, id]);
  return rows.length > 0;
}

/** These lines wait for the provider instead of their turn. */
export async function submitLines(storage: Storage, batchId: string, lines: readonly number[]): Promise<void> {
  if (lines.length === 0) return;
  const marks = lines.map(() => "?").join(", ");
  await storage.query(
    `UPDATE batch_lines SET state = 'submitted' WHERE batch_id = ? AND state = 'waiting' AND line IN (${marks})`,
    [batchId, ...lines],
  );
}

/** What becomes of lines that the provider has not run. */
export type LeftState = "waiting" | "cancelled" | "expired";

/** Ends lines that the provider has not run, or returns them to the queue. */
export async function leaveLines(
  queries: Queries,
  batchId: string,
  state: LeftState,
  lines: readonly number[],
): Promise<void> {
  await queries.query(
    `UPDATE batch_lines SET state = ? WHERE batch_id = ? AND state = 'submitted'
     AND line IN (${lines.map(() => "?").join(", ")})`,
    [state, batchId, ...lines],
  );
}

/** The same for any lines, up to a limit. Returns their number. */
export async function leaveSomeLines(
  queries: Queries,
  batchId: string,
  state: LeftState,
  limit: number,
): Promise<number> {
  const rows = await queries.query(
    `UPDATE batch_lines SET state = ? WHERE batch_id = ? AND line IN (
       SELECT line FROM batch_lines WHERE batch_id = ? AND state = 'submitted' ORDER BY line LIMIT ?) RETURNING line`,
    [state, batchId, batchId, limit],
  );
  return rows.length;
}

/** Submitted lines in order, from one on. */
export async function selectSubmittedLines(
  queries: Queries,
  batchId: string,
  from: number,
  limit: number,
): Promise<SubmittedLine[]> {
  const rows = await queries.query(
    `SELECT line, custom_id, start_at, size, sent FROM batch_lines
     WHERE batch_id = ? AND state = 'submitted' AND line >= ? ORDER BY line LIMIT ?`,
    [batchId, from, limit],
  );
  return rows.map((row) => ({
    line: number(row, "line"),
    customId: text(row, "custom_id"),
    start: number(row, "start_at"),
    size: number(row, "size"),
    sent: optionalText(row, "sent"),
  }));
}

/** Keeps the request of a line as the provider is sent it. */
export async function keepSent(queries: Queries, batchId: string, line: number, sent: string | null): Promise<void> {
  await queries.query("UPDATE batch_lines SET sent = ? WHERE batch_id = ? AND line = ?", [sent, batchId, line]);
}

/** Stores a result with its receipts. False if the line has one already: a result that comes twice counts once. */
export async function endSubmittedLine(
  storage: Storage,
  batchId: string,
  line: number,
  { status, result, receipts }: LineResult,
): Promise<boolean> {
  return await storage.transaction(async (queries) => {
    const rows = await queries.query(
      `UPDATE batch_lines SET state = 'ended', status = ?, result = ?, receipt_id = ?, cost_nano_usd = ?
       WHERE batch_id = ? AND line = ? AND state = 'submitted' RETURNING line`,
      [status, result, receipts.at(-1)?.id ?? null, sumOfCosts(receipts), batchId, line],
    );
    if (rows.length === 0) return false;
    for (const receipt of receipts) await insertReceipt(queries, receipt, storage.engine);
    return true;
  });
}

const sumOfCosts = (receipts: readonly Receipt[]): number =>
  receipts.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);

const readNative = (row: StoredRow): NativeBatch => ({
  id: text(row, "id"),
  form: text(row, "form"),
  endpoint: text(row, "endpoint"),
  deadlineAtMs: number(row, "deadline_at_ms"),
  target: text(row, "target"),
  provider: text(row, "provider"),
  credential: text(row, "credential"),
  marker: text(row, "marker"),
  phase: text(row, "phase") as NativePhase,
  lineCount: number(row, "line_count"),
  headers: JSON.parse(text(row, "headers")) as Record<string, string>,
  providerId: optionalText(row, "provider_id"),
  tries: number(row, "tries"),
  sentAtMs: number(row, "sent_at_ms"),
  polledAtMs: number(row, "polled_at_ms"),
  cancelSent: number(row, "cancel_sent") === 1,
});
