import type { Receipt } from "../../canon/receipt.ts";
import { number, optionalNumber, optionalText, text } from "../columns.ts";
import { type Queries, REPORT_MS, type Storage, type StoredRow } from "../storage.ts";
import type { Lease, OpenBatch } from "./batches.ts";
import { FAR_MS, isFree } from "./claims.ts";

/**
 * `waiting` lines are run next. Those that are `running` have a lease, and those that are `submitted` are at a provider's batch API.
 * `ended` lines have a result; `cancelled` and `expired` ones were never run.
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

/** Deletes at most `limit` lines of a batch. Returns whether there may be more. */
export async function deleteLines(queries: Queries, batchId: string, limit: number): Promise<boolean> {
  const rows = await queries.query(
    `DELETE FROM batch_lines WHERE batch_id = ? AND line IN (
       SELECT line FROM batch_lines WHERE batch_id = ? ORDER BY line LIMIT ?) RETURNING line`,
    [batchId, batchId, limit],
  );
  return rows.length === limit;
}

/** Inserts a few hundred lines at most. Returns the first whose custom id was used before, or undefined if all are inserted. */
export async function insertLines(
  queries: Queries,
  batchId: string,
  lines: readonly NewLine[],
): Promise<number | undefined> {
  if (lines.length === 0) return undefined;
  const rows = await queries.query(
    `INSERT INTO batch_lines (batch_id, line, custom_id, start_at, size, state, held_nano_usd)
     VALUES ${lines.map(() => "(?, ?, ?, ?, ?, 'waiting', ?)").join(", ")}
     ON CONFLICT (batch_id, custom_id) DO NOTHING RETURNING line`,
    lines.flatMap(({ line, customId, start, size, heldNanoUsd }) => [
      batchId,
      line,
      customId,
      start,
      size,
      Math.round(heldNanoUsd),
    ]),
  );
  const inserted = new Set(rows.map((row) => number(row, "line")));
  return lines.find(({ line }) => !inserted.has(line))?.line;
}

/** Lines of processes that have stopped or died, or whose leases had ended before that time, wait again. */
export async function freeLines(queries: Queries, endedBeforeMs: number): Promise<void> {
  await queries.query(
    `UPDATE batch_lines SET state = 'waiting', lease_owner = NULL, lease_until_ms = 0
     WHERE state = 'running' AND ${isFree("batch_lines")}`,
    [Math.floor(endedBeforeMs)],
  );
}

/** Which lines to take. */
interface LineClaim {
  /** At most this many. */
  limit: number;
  /** Only as long as fewer than this many run in all processes. */
  maxRunning: number;
  /** Batches in progress, oldest first. */
  batches: readonly Pick<OpenBatch, "id" | "project">[];
  /** Of projects with equally many running lines, those that follow this one come first. */
  lastProject: string;
  nowMs: number;
}

/**
 * Takes lines of batches that are in progress. The project with the fewest running lines comes first, whatever the size of its
 * batches. Call it in a transaction.
 */
export async function claimLines(
  queries: Queries,
  engine: Storage["engine"],
  { owner, untilMs }: Lease,
  { limit, maxRunning, batches, lastProject, nowMs }: LineClaim,
): Promise<ClaimedLine[]> {
  const now = Math.floor(nowMs);
  if (engine === "postgres") await queries.query("LOCK TABLE batches IN SHARE ROW EXCLUSIVE MODE");
  const running = await countRunning(queries);
  const free = Math.min(limit, maxRunning - [...running.values()].reduce((sum, lines) => sum + lines, 0));
  if (free <= 0) return [];
  const found: ClaimedLine[][] = [];
  const turns = turnsOf(batches, running, lastProject);
  for (const { batches: ofProject } of turns) {
    // Each gets one line at least, and any may get all.
    if (found.filter((lines) => lines.length > 0).length === free) break;
    found.push(await selectWaiting(queries, ofProject, free, now));
  }
  const counts = turns.map(({ running }) => running);
  const taken: ClaimedLine[] = [];
  while (taken.length < free) {
    const next = found.reduce(
      (least, lines, index) =>
        lines.length > 0 && (least < 0 || (counts[index] ?? 0) < (counts[least] ?? 0)) ? index : least,
      -1,
    );
    const line = found[next]?.shift();
    if (line === undefined) break;
    counts[next] = (counts[next] ?? 0) + 1;
    taken.push(line);
  }
  for (const [batchId, lines] of byBatch(taken)) {
    await queries.query(
      `UPDATE batch_lines SET state = 'running', lease_owner = ?, lease_until_ms = ?
       WHERE batch_id = ? AND line IN (${lines.map(() => "?").join(", ")})`,
      [owner, Math.floor(untilMs), batchId, ...lines],
    );
  }
  return taken;
}

/** How many lines of each batch run. */
async function countRunning(queries: Queries): Promise<Map<string, number>> {
  const rows = await queries.query(
    "SELECT batch_id, COUNT(*) AS lines FROM batch_lines WHERE state = 'running' GROUP BY batch_id",
  );
  return new Map(rows.map((row) => [text(row, "batch_id"), number(row, "lines")]));
}

/** The projects in the order in which they get lines. */
function turnsOf(
  batches: LineClaim["batches"],
  runningOf: ReadonlyMap<string, number>,
  lastProject: string,
): { batches: string[]; running: number }[] {
  const projects = new Map<string, { project: string; batches: string[]; running: number }>();
  for (const { id, project } of batches) {
    const known = projects.get(project) ?? { project, batches: [], running: 0 };
    known.batches.push(id);
    known.running += runningOf.get(id) ?? 0;
    projects.set(project, known);
  }
  const isLater = ({ project }: { project: string }) => (project > lastProject ? 0 : 1);
  return [...projects.values()].sort(
    (one, other) =>
      one.running - other.running || isLater(one) - isLater(other) || (one.project < other.project ? -1 : 1),
  );
}

/**
 * The first lines of these batches that may run now. The sum keeps engines from using the index by time, for which they would read
 * and sort all waiting lines.
 */
async function selectWaiting(
  queries: Queries,
  batchIds: readonly string[],
  limit: number,
  now: number,
): Promise<ClaimedLine[]> {
  const found: ClaimedLine[] = [];
  for (const id of batchIds) {
    const rows = await queries.query(
      `SELECT batch_id, line, custom_id, start_at, size, held_nano_usd FROM batch_lines
       WHERE batch_id = ? AND state = 'waiting' AND (lease_until_ms + 0 <= ? OR lease_until_ms + 0 > ?)
         AND EXISTS (SELECT 1 FROM objects WHERE id = ? AND state = 'in_progress')
       ORDER BY line LIMIT ?`,
      [id, now, now + FAR_MS, id, limit - found.length],
    );
    found.push(...rows.map(readClaimed));
    if (found.length >= limit) break;
  }
  return found;
}

function byBatch(lines: readonly Pick<ClaimedLine, "batchId" | "line">[]): Map<string, number[]> {
  const grouped = new Map<string, number[]>();
  for (const { batchId, line } of lines) grouped.set(batchId, [...(grouped.get(batchId) ?? []), line]);
  return grouped;
}

/** Only the lines that are still run: one that was given up must not be kept from other processes. */
export async function renewLineLeases(
  queries: Queries,
  lines: readonly Pick<ClaimedLine, "batchId" | "line">[],
  { owner, untilMs }: Lease,
): Promise<void> {
  for (const [batchId, numbers] of byBatch(lines)) {
    await queries.query(
      `UPDATE batch_lines SET lease_until_ms = ? WHERE batch_id = ? AND line IN (${numbers.map(() => "?").join(", ")})
       AND lease_owner = ? AND state = 'running'`,
      [Math.floor(untilMs), batchId, ...numbers, owner],
    );
  }
}

/**
 * Stores the result of a line. Its receipts are stored in the same transaction, so that a crash loses both or neither. If the line
 * was taken over meanwhile, the first result counts. False if this is not the first; the batch costs both.
 */
export async function endLine(
  queries: Queries,
  { batchId, line }: Pick<ClaimedLine, "batchId" | "line">,
  { status, result, receipts }: LineResult,
): Promise<boolean> {
  const cost = sumOfCosts(receipts);
  const rows = await queries.query(
    `UPDATE batch_lines SET state = 'ended', lease_owner = NULL, status = ?, result = ?, receipt_id = ?,
       cost_nano_usd = COALESCE(cost_nano_usd, 0) + ?
     WHERE batch_id = ? AND line = ? AND state IN ('waiting', 'running') RETURNING line`,
    [status, result, receipts.at(-1)?.id ?? null, cost, batchId, line],
  );
  if (rows.length === 1) return true;
  await queries.query(
    "UPDATE batch_lines SET cost_nano_usd = COALESCE(cost_nano_usd, 0) + ? WHERE batch_id = ? AND line = ?",
    [cost, batchId, line],
  );
  return false;
}

/** Returns a line that could not be run now. No process takes it before `fromMs`. */
export async function returnLine(
  queries: Queries,
  { batchId, line }: Pick<ClaimedLine, "batchId" | "line">,
  owner: string,
  fromMs: number,
): Promise<void> {
  await queries.query(
    `UPDATE batch_lines SET state = 'waiting', lease_owner = NULL, lease_until_ms = ?
     WHERE batch_id = ? AND line = ? AND state = 'running' AND lease_owner = ?`,
    [Math.floor(fromMs), batchId, line, owner],
  );
}

/** Ends lines that are never run with a result, at most `limit` of them. Returns whether there may be more. */
export async function refuseLines(
  queries: Queries,
  batchId: string,
  { status, result }: Pick<LineResult, "status" | "result">,
  limit: number,
): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE batch_lines SET state = 'ended', status = ?, result = ? WHERE batch_id = ? AND line IN (
       SELECT line FROM batch_lines WHERE batch_id = ? AND state = 'waiting' ORDER BY line LIMIT ?) RETURNING line`,
    [status, result, batchId, batchId, limit],
  );
  return rows.length === limit;
}

/** Ends lines that have not begun, of a batch that was cancelled or whose time is over. Returns how many. */
export async function endWaitingLines(
  queries: Queries,
  batchId: string,
  state: LineState & ("cancelled" | "expired"),
  limit: number,
): Promise<number> {
  const rows = await queries.query(
    `UPDATE batch_lines SET state = ? WHERE batch_id = ? AND line IN (
       SELECT line FROM batch_lines WHERE batch_id = ? AND state = 'waiting' ORDER BY line LIMIT ?) RETURNING line`,
    [state, batchId, batchId, limit],
  );
  return rows.length;
}

export interface LineCounts {
  total: number;
  /** Waiting or running. */
  open: number;
  running: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  expired: number;
  costNanoUsd: number;
  /** What the waiting lines may cost. */
  heldNanoUsd: number;
}

export const NO_LINES: LineCounts = {
  total: 0,
  open: 0,
  running: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  expired: 0,
  costNanoUsd: 0,
  heldNanoUsd: 0,
};

/** The lines of each of these batches, counted by their states. */
export async function countLines(queries: Queries, ids: readonly string[]): Promise<Map<string, LineCounts>> {
  const counts = new Map<string, LineCounts>();
  for (const id of ids) {
    const rows = await queries.query(
      `SELECT state, CASE WHEN status < 300 THEN 1 ELSE 0 END AS ok, COUNT(*) AS lines,
         CAST(COALESCE(SUM(cost_nano_usd), 0) AS BIGINT) AS cost, CAST(SUM(held_nano_usd) AS BIGINT) AS held
       FROM batch_lines WHERE batch_id = ? GROUP BY state, CASE WHEN status < 300 THEN 1 ELSE 0 END`,
      [id],
      await limitFor(queries, id),
    );
    const count = { ...NO_LINES };
    for (const row of rows) {
      const lines = number(row, "lines");
      const state = text(row, "state") as LineState;
      count.total += lines;
      count.costNanoUsd += number(row, "cost");
      if (state === "ended") count[number(row, "ok") === 1 ? "succeeded" : "failed"] += lines;
      else if (state === "cancelled" || state === "expired") count[state] += lines;
      else count.open += lines;
      // A provider does not say which of the lines that it has are running.
      if (state === "running" || state === "submitted") count.running += lines;
      if (state === "waiting" || state === "submitted") count.heldNanoUsd += number(row, "held");
    }
    counts.set(id, count);
  }
  return counts;
}

/** The lines of all batches that wait for their turn. */
export interface WaitingLines {
  count: number;
  /** When the oldest batch that has some was created. */
  sinceMs: number | undefined;
}

export async function countWaitingLines(queries: Queries): Promise<WaitingLines> {
  const [row] = await queries.query(
    `SELECT COUNT(*) AS waiting, (SELECT MIN(created_at_ms) FROM objects WHERE kind = 'batch' AND state = 'in_progress'
       AND EXISTS (SELECT 1 FROM batch_lines WHERE batch_id = objects.id AND state = 'waiting')) AS since
     FROM batch_lines WHERE state = 'waiting'`,
    [],
    REPORT_MS,
  );
  return row === undefined
    ? { count: 0, sinceMs: undefined }
    : { count: number(row, "waiting"), sinceMs: optionalNumber(row, "since") };
}

/** From this many lines on, a statement about all lines of a batch is a report: it must not block the event loop. */
const MANY_LINES = 2_000;

async function limitFor(queries: Queries, batchId: string): Promise<number | undefined> {
  const [row] = await queries.query("SELECT COALESCE(MAX(line), 0) AS last FROM batch_lines WHERE batch_id = ?", [
    batchId,
  ]);
  return row !== undefined && number(row, "last") > MANY_LINES ? REPORT_MS : undefined;
}

/** What the lines of a batch may cost that wait, or that a provider's batch API has. */
export async function sumHeld(queries: Queries, batchId: string): Promise<number> {
  const [row] = await queries.query(
    `SELECT CAST(COALESCE(SUM(held_nano_usd), 0) AS BIGINT) AS held FROM batch_lines
     WHERE batch_id = ? AND state IN ('waiting', 'submitted')`,
    [batchId],
    await limitFor(queries, batchId),
  );
  return row === undefined ? 0 : number(row, "held");
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

/** Removes results that are in the output file, of lines within these numbers. */
export async function dropResults(queries: Queries, batchId: string, from: number, to: number): Promise<void> {
  await queries.query("UPDATE batch_lines SET result = NULL WHERE batch_id = ? AND line BETWEEN ? AND ?", [
    batchId,
    from,
    to,
  ]);
}

const sumOfCosts = (receipts: readonly Receipt[]): number =>
  receipts.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);

const readClaimed = (row: StoredRow): ClaimedLine => ({
  batchId: text(row, "batch_id"),
  line: number(row, "line"),
  customId: text(row, "custom_id"),
  start: number(row, "start_at"),
  size: number(row, "size"),
  heldNanoUsd: number(row, "held_nano_usd"),
});
