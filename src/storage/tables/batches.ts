import type { Receipt } from "../../canon/receipt.ts";
import { number, optionalNumber, optionalText, text } from "../columns.ts";
import { insertReceipt } from "../receipts/receipts.ts";
import type { Queries, Storage, StoredRow } from "../storage.ts";

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

/**
 * `waiting` lines are run next. Those that are `running` have a lease, and those that are `submitted` are at a provider's batch API. `ended` lines have a result; `cancelled` and `expired` ones
 * were never run.
 */
export type LineState = "waiting" | "running" | "submitted" | "ended" | "cancelled" | "expired";

/** Where a line is in the input of its batch. */
export interface NewLine {
  line: number;
  customId: string;
  start: number;
  size: number;
  /** What it may cost. */
  heldNanoUsd: number;
}

export interface ClaimedLine extends NewLine {
  batchId: string;
}

/** A line that is not going to change. */
export interface EndedLine {
  line: number;
  customId: string;
  state: LineState;
  status: number | undefined;
  result: string | undefined;
}

export interface LineResult {
  status: number;
  /** The body of the response. */
  result: string;
  /** None if the request was refused before it became a call. */
  receipts: readonly Receipt[];
}

interface Lease {
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

export async function selectBatches(queries: Queries, ids: readonly string[]): Promise<Map<string, BatchTerms>> {
  if (ids.length === 0) return new Map();
  const marks = ids.map(() => "?").join(", ");
  const rows = await queries.query(
    `SELECT id, form, endpoint, deadline_at_ms FROM batches WHERE id IN (${marks})`,
    ids,
  );
  return new Map(rows.map((row) => [text(row, "id"), readTerms(row)]));
}

/** `new`: its input was not read yet. `finished`: all of its lines have ended. */
export type BatchTask = "new" | "finished";

const TASKS: Readonly<Record<BatchTask, string>> = {
  new: "objects.state = 'validating'",
  finished: `objects.state IN ('in_progress', 'cancelling') AND NOT EXISTS (
    SELECT 1 FROM batch_lines WHERE batch_id = batches.id AND state IN ('waiting', 'running', 'submitted'))`,
};

/** Takes the lease of a batch that has this to do, and that no live process works on. */
export async function leaseBatch(
  queries: Queries,
  task: BatchTask,
  { owner, untilMs }: Lease,
  nowMs: number,
): Promise<BatchTerms | undefined> {
  const now = Math.floor(nowMs);
  const [row] = await queries.query(
    `UPDATE batches SET lease_owner = ?, lease_until_ms = ? WHERE id IN (
       SELECT batches.id FROM batches JOIN objects ON objects.id = batches.id
       WHERE ${TASKS[task]} AND lease_until_ms < ? ORDER BY objects.created_at_ms LIMIT 1)
     AND lease_until_ms < ? RETURNING id, form, endpoint, deadline_at_ms`,
    [owner, Math.floor(untilMs), now, now],
  );
  return row === undefined ? undefined : readTerms(row);
}

/** False if another process has taken it over. */
export async function renewBatchLease(queries: Queries, id: string, { owner, untilMs }: Lease): Promise<boolean> {
  const rows = await queries.query(
    "UPDATE batches SET lease_until_ms = ? WHERE id = ? AND lease_owner = ? RETURNING id",
    [Math.floor(untilMs), id, owner],
  );
  return rows.length === 1;
}

export async function releaseBatch(queries: Queries, id: string, owner: string): Promise<void> {
  await queries.query("UPDATE batches SET lease_until_ms = 0 WHERE id = ? AND lease_owner = ?", [id, owner]);
}

/** A validation that a crash interrupted starts again. */
export async function deleteLines(queries: Queries, batchId: string): Promise<void> {
  await queries.query("DELETE FROM batch_lines WHERE batch_id = ?", [batchId]);
}

/** Returns the first line whose custom id was used before, or undefined if all are inserted. */
export async function insertLines(
  storage: Storage,
  batchId: string,
  lines: readonly NewLine[],
): Promise<number | undefined> {
  return await storage.transaction(async (queries) => {
    for (const { line, customId, start, size, heldNanoUsd } of lines) {
      const rows = await queries.query(
        `INSERT INTO batch_lines (batch_id, line, custom_id, start_at, size, state, held_nano_usd)
         VALUES (?, ?, ?, ?, ?, 'waiting', ?) ON CONFLICT (batch_id, custom_id) DO NOTHING RETURNING line`,
        [batchId, line, customId, start, size, Math.round(heldNanoUsd)],
      );
      if (rows.length === 0) return line;
    }
    return undefined;
  });
}

/**
 * Takes lines of batches that are in progress: at most `limit`, and only as long as fewer than `maxRunning` run in all processes.
 * Lines of a process that died are taken again. Each project gets its turn, whatever the size of its batches.
 */
export async function claimLines(
  storage: Storage,
  { owner, untilMs }: Lease,
  { limit, maxRunning, nowMs }: { limit: number; maxRunning: number; nowMs: number },
): Promise<ClaimedLine[]> {
  const now = Math.floor(nowMs);
  return await storage.transaction(async (queries) => {
    if (storage.engine === "postgres") await queries.query("LOCK TABLE batches IN SHARE ROW EXCLUSIVE MODE");
    const [counted] = await queries.query(
      "SELECT COUNT(*) AS running FROM batch_lines WHERE state = 'running' AND lease_until_ms >= ?",
      [now],
    );
    const free = Math.min(limit, maxRunning - (counted === undefined ? 0 : number(counted, "running")));
    if (free <= 0) return [];
    await queries.query(
      "UPDATE batch_lines SET state = 'waiting', lease_owner = NULL WHERE state = 'running' AND lease_until_ms < ?",
      [now],
    );
    const rows = await queries.query(
      `SELECT batch_id, line, custom_id, start_at, size, held_nano_usd FROM (
         SELECT batch_lines.*, ROW_NUMBER() OVER (PARTITION BY objects.project ORDER BY objects.created_at_ms, batch_id, line) AS turn
         FROM batches JOIN objects ON objects.id = batches.id JOIN batch_lines ON batch_lines.batch_id = objects.id
         WHERE objects.state = 'in_progress' AND batch_lines.state = 'waiting'
           AND batch_lines.line < COALESCE((SELECT MIN(line) FROM batch_lines AS first
             WHERE first.batch_id = objects.id AND first.state = 'waiting'), 0) + ?
       ) AS next_lines ORDER BY turn, batch_id, line LIMIT ?`,
      [free, free],
    );
    const lines = rows.map(readClaimed);
    for (const { batchId, line } of lines) {
      await queries.query(
        "UPDATE batch_lines SET state = 'running', lease_owner = ?, lease_until_ms = ? WHERE batch_id = ? AND line = ?",
        [owner, Math.floor(untilMs), batchId, line],
      );
    }
    return lines;
  });
}

export async function renewLineLeases(queries: Queries, { owner, untilMs }: Lease): Promise<void> {
  await queries.query("UPDATE batch_lines SET lease_until_ms = ? WHERE lease_owner = ? AND state = 'running'", [
    Math.floor(untilMs),
    owner,
  ]);
}

/**
 * Stores the result of a line together with its receipts, so that a crash loses both or neither. False if the lease was lost: then
 * another process runs the line, and this result does not count.
 */
export async function endLine(
  storage: Storage,
  { batchId, line }: Pick<ClaimedLine, "batchId" | "line">,
  owner: string,
  { status, result, receipts }: LineResult,
): Promise<boolean> {
  return await storage.transaction(async (queries) => {
    const rows = await queries.query(
      `UPDATE batch_lines SET state = 'ended', lease_owner = NULL, status = ?, result = ?, receipt_id = ?, cost_nano_usd = ?
       WHERE batch_id = ? AND line = ? AND state = 'running' AND lease_owner = ? RETURNING line`,
      [status, result, receipts.at(-1)?.id ?? null, sumOfCosts(receipts), batchId, line, owner],
    );
    if (rows.length === 0) return false;
    for (const receipt of receipts) await insertReceipt(queries, receipt, storage.engine);
    return true;
  });
}

/** Returns a line that could not be run now. */
export async function returnLine(queries: Queries, { batchId, line }: ClaimedLine, owner: string): Promise<void> {
  await queries.query(
    `UPDATE batch_lines SET state = 'waiting', lease_owner = NULL WHERE batch_id = ? AND line = ? AND state = 'running'
     AND lease_owner = ?`,
    [batchId, line, owner],
  );
}

/** Ends the lines that have not begun, of batches that were cancelled or whose time is over. */
export async function endUnwantedLines(queries: Queries, nowMs: number): Promise<void> {
  const ofBatches = (condition: string) =>
    `batch_id IN (SELECT batches.id FROM batches JOIN objects ON objects.id = batches.id WHERE ${condition})`;
  const cancelled = ofBatches("objects.state = 'cancelling'");
  await queries.query(`UPDATE batch_lines SET state = 'cancelled' WHERE state = 'waiting' AND ${cancelled}`);
  const late = ofBatches("objects.state = 'in_progress' AND deadline_at_ms <= ?");
  await queries.query(`UPDATE batch_lines SET state = 'expired' WHERE state = 'waiting' AND ${late}`, [
    Math.floor(nowMs),
  ]);
}

export interface LineCounts {
  total: number;
  /** Waiting or running. */
  open: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  expired: number;
  costNanoUsd: number;
}

/** The lines of each of these batches, counted by their states. */
export async function countLines(queries: Queries, ids: readonly string[]): Promise<Map<string, LineCounts>> {
  const counts = new Map<string, LineCounts>();
  for (const id of ids) {
    const rows = await queries.query(
      `SELECT state, CASE WHEN status < 300 THEN 1 ELSE 0 END AS ok, COUNT(*) AS lines,
         CAST(COALESCE(SUM(cost_nano_usd), 0) AS BIGINT) AS cost
       FROM batch_lines WHERE batch_id = ? GROUP BY state, CASE WHEN status < 300 THEN 1 ELSE 0 END`,
      [id],
    );
    const count = { total: 0, open: 0, succeeded: 0, failed: 0, cancelled: 0, expired: 0, costNanoUsd: 0 };
    for (const row of rows) {
      const lines = number(row, "lines");
      const state = text(row, "state") as LineState;
      count.total += lines;
      count.costNanoUsd += number(row, "cost");
      if (state === "ended") count[number(row, "ok") === 1 ? "succeeded" : "failed"] += lines;
      else if (state === "cancelled" || state === "expired") count[state] += lines;
      else count.open += lines;
    }
    counts.set(id, count);
  }
  return counts;
}

/** What the lines may cost that wait, or that a provider's batch API has, by batch. */
export async function sumHeld(queries: Queries): Promise<Map<string, number>> {
  const rows = await queries.query(
    `SELECT batch_id, CAST(SUM(held_nano_usd) AS BIGINT) AS held FROM batch_lines
     WHERE state IN ('waiting', 'submitted') AND held_nano_usd > 0 GROUP BY batch_id`,
  );
  return new Map(rows.map((row) => [text(row, "batch_id"), number(row, "held")]));
}

/** Lines of a batch in order, from one on. */
export async function selectEndedLines(
  queries: Queries,
  batchId: string,
  from: number,
  limit: number,
): Promise<EndedLine[]> {
  const rows = await queries.query(
    "SELECT line, custom_id, state, status, result FROM batch_lines WHERE batch_id = ? AND line >= ? ORDER BY line LIMIT ?",
    [batchId, from, limit],
  );
  return rows.map((row) => ({
    line: number(row, "line"),
    customId: text(row, "custom_id"),
    state: text(row, "state") as LineState,
    status: optionalNumber(row, "status"),
    result: optionalText(row, "result"),
  }));
}

/** The output file has them now. */
export async function dropResults(queries: Queries, batchId: string): Promise<void> {
  await queries.query("UPDATE batch_lines SET result = NULL WHERE batch_id = ? AND result IS NOT NULL", [batchId]);
}

const sumOfCosts = (receipts: readonly Receipt[]): number =>
  receipts.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);

const readTerms = (row: StoredRow): BatchTerms => ({
  id: text(row, "id"),
  form: text(row, "form"),
  endpoint: text(row, "endpoint"),
  deadlineAtMs: number(row, "deadline_at_ms"),
});

const readClaimed = (row: StoredRow): ClaimedLine => ({
  batchId: text(row, "batch_id"),
  line: number(row, "line"),
  customId: text(row, "custom_id"),
  start: number(row, "start_at"),
  size: number(row, "size"),
  heldNanoUsd: number(row, "held_nano_usd"),
});
