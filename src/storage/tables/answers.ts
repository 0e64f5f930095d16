import { withoutAbsent } from "../../base/without-absent.ts";
import type { Owned } from "../../canon/ownership.ts";
import { bytes, number, optionalText, readSharingColumn, text } from "../columns.ts";
import type { Parameter, Queries, Storage, StoredRow } from "../storage.ts";

/** `pending`: it is being made in the background. `done`: later requests may build on it. */
export type AnswerState = "pending" | "done" | "failed" | "cancelled";

/** A stored answer; its content is sealed. */
export interface StoredAnswer extends Owned {
  id: string;
  /** The answer that it builds on. */
  previousId?: string;
  state: AnswerState;
  /** The items of its own request. */
  input: Uint8Array;
  /** The answer as its client received it. */
  answer: Uint8Array;
  /** In bytes, before sealing: the memory needed to read them. */
  inputLength: number;
  answerLength: number;
  createdAtMs: number;
  expiresAtMs: number;
}

/** An answer without its content. */
export type StoredAnswerHead = Omit<StoredAnswer, "input" | "answer">;

const HEAD =
  "id, project, key_id, share, previous_id, state, input_length, answer_length, created_at_ms, expires_at_ms";
const ALL = `${HEAD}, input, answer`;

/** The parts of an answer to read. */
export type AnswerParts = "both" | "input" | "answer";
const COLUMNS: Readonly<Record<AnswerParts, string>> = {
  both: ALL,
  input: `${HEAD}, input`,
  answer: `${HEAD}, answer`,
};

/** The most values in one statement. */
const AT_ONCE = 500;

export async function insertAnswer(storage: Storage, answer: StoredAnswer, itemIds: readonly string[]): Promise<void> {
  await storage.transaction(async (queries) => {
    await queries.query(`INSERT INTO answers (${ALL}, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
      answer.id,
      answer.project,
      answer.keyId ?? null,
      answer.share,
      answer.previousId ?? null,
      answer.state,
      answer.inputLength,
      answer.answerLength,
      answer.createdAtMs,
      answer.expiresAtMs,
      answer.input,
      answer.answer,
      answer.input.length + answer.answer.length,
    ]);
    await insertItems(queries, answer, itemIds);
  });
}

async function insertItems(
  queries: Queries,
  { id, project }: Pick<StoredAnswer, "id" | "project">,
  itemIds: readonly string[],
): Promise<void> {
  for (const some of inParts([...new Set(itemIds)])) {
    const values = some.map(() => "(?, ?, ?)").join(", ");
    await queries.query(
      `INSERT INTO answer_items (item_id, project, answer_id) VALUES ${values}`,
      some.flatMap((item) => [item, project, id]),
    );
  }
}

/** Ends a pending answer. False if it was cancelled, deleted or ended before. */
export async function endAnswer(
  storage: Storage,
  answer: Pick<StoredAnswer, "id" | "project" | "state" | "answer" | "answerLength">,
  itemIds: readonly string[],
): Promise<boolean> {
  return await storage.transaction(async (queries) => {
    const ended = await queries.query(
      `UPDATE answers SET state = ?, answer = ?, answer_length = ?, size = LENGTH(input) + ?
       WHERE id = ? AND project = ? AND state = 'pending' RETURNING id`,
      [answer.state, answer.answer, answer.answerLength, answer.answer.length, answer.id, answer.project],
    );
    if (ended.length === 1) await insertItems(queries, answer, itemIds);
    return ended.length === 1;
  });
}

/** The stored ones of these answers, by id; a part that is not read is empty. */
export async function selectAnswers(
  queries: Queries,
  project: string,
  ids: readonly string[],
  nowMs: number,
  parts: AnswerParts,
): Promise<Map<string, StoredAnswer>> {
  const rows = await queries.query(
    `SELECT ${COLUMNS[parts]} FROM answers WHERE project = ? AND expires_at_ms > ? AND id IN (${placeholders(ids)})`,
    [project, Math.floor(nowMs), ...ids],
  );
  return new Map(rows.map((row) => [text(row, "id"), readAnswer(row)]));
}

/** The answer, the one that it builds on, and so on to the first, as far as they are stored. */
export async function selectChain(
  queries: Queries,
  project: string,
  id: string,
  nowMs: number,
  maxTurns: number,
): Promise<StoredAnswerHead[]> {
  const now = Math.floor(nowMs);
  const heads = HEAD.split(", ");
  const rows = await queries.query(
    `WITH RECURSIVE chain (${HEAD}, turn) AS (
       SELECT ${HEAD}, 0 FROM answers WHERE id = ? AND project = ? AND expires_at_ms > ?
       UNION ALL
       SELECT ${heads.map((column) => `earlier.${column}`).join(", ")}, chain.turn + 1
       FROM chain JOIN answers AS earlier ON earlier.id = chain.previous_id AND earlier.project = chain.project
       WHERE earlier.expires_at_ms > ? AND chain.turn < ?)
     SELECT ${HEAD} FROM chain ORDER BY turn`,
    [id, project, now, now, maxTurns],
  );
  return rows.map(readHead);
}

/** The answer of that id, in any project. */
export async function selectAnswerHead(
  queries: Queries,
  id: string,
  nowMs: number,
): Promise<StoredAnswerHead | undefined> {
  const [row] = await queries.query(`SELECT ${HEAD} FROM answers WHERE id = ? AND expires_at_ms > ? LIMIT 1`, [
    id,
    Math.floor(nowMs),
  ]);
  return row === undefined ? undefined : readHead(row);
}

/** An answer that holds an item. */
interface ItemHolder {
  itemId: string;
  head: StoredAnswerHead;
}

/** The answers that hold any of the items, oldest first. */
export async function selectHolders(
  queries: Queries,
  project: string,
  itemIds: readonly string[],
  nowMs: number,
): Promise<ItemHolder[]> {
  const holders: ItemHolder[] = [];
  const heads = HEAD.split(", ").map((column) => `answers.${column}`);
  for (const some of inParts(itemIds)) {
    const rows = await queries.query(
      `SELECT answer_items.item_id, ${heads.join(", ")} FROM answer_items
       JOIN answers ON answers.id = answer_items.answer_id AND answers.project = answer_items.project
       WHERE answer_items.project = ? AND answers.expires_at_ms > ?
         AND answer_items.item_id IN (${placeholders(some)}) ORDER BY answers.created_at_ms`,
      [project, Math.floor(nowMs), ...some],
    );
    for (const row of rows) holders.push({ itemId: text(row, "item_id"), head: readHead(row) });
  }
  return holders;
}

/** An answer lives as long as those that build on it. */
export async function prolongAnswers(
  queries: Queries,
  project: string,
  ids: readonly string[],
  expiresAtMs: number,
): Promise<void> {
  for (const some of inParts(ids)) {
    await queries.query(
      `UPDATE answers SET expires_at_ms = ? WHERE project = ? AND expires_at_ms < ? AND id IN (${placeholders(some)})`,
      [expiresAtMs, project, expiresAtMs, ...some],
    );
  }
}

/** False if there was none. */
export async function deleteAnswer(queries: Queries, project: string, id: string, nowMs: number): Promise<boolean> {
  const rows = await queries.query(
    "DELETE FROM answers WHERE id = ? AND project = ? AND expires_at_ms > ? RETURNING id",
    [id, project, Math.floor(nowMs)],
  );
  return rows.length === 1;
}

export async function deleteExpiredAnswers(queries: Queries, nowMs: number, limit: number): Promise<number> {
  const rows = await queries.query(
    `DELETE FROM answers WHERE (id, project) IN (
       SELECT id, project FROM answers WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?) RETURNING id`,
    [Math.floor(nowMs), limit],
  );
  return rows.length;
}

/** The size of each project's answers. */
export async function sumAnswerSizes(queries: Queries): Promise<Map<string, number>> {
  const rows = await queries.query("SELECT project, CAST(SUM(size) AS BIGINT) AS total FROM answers GROUP BY project");
  return new Map(rows.map((row) => [text(row, "project"), number(row, "total")]));
}

/** The oldest answers of a project, with their sizes. */
export async function selectOldestAnswers(
  queries: Queries,
  project: string,
  limit: number,
): Promise<{ id: string; size: number }[]> {
  const rows = await queries.query(
    "SELECT id, size FROM answers WHERE project = ? ORDER BY created_at_ms, id LIMIT ?",
    [project, limit],
  );
  return rows.map((row) => ({ id: text(row, "id"), size: number(row, "size") }));
}

export async function deleteAnswers(queries: Queries, project: string, ids: readonly string[]): Promise<void> {
  for (const some of inParts(ids)) {
    await queries.query(`DELETE FROM answers WHERE project = ? AND id IN (${placeholders(some)})`, [project, ...some]);
  }
}

function* inParts(values: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < values.length; from += AT_ONCE) yield values.slice(from, from + AT_ONCE);
}

const placeholders = (values: readonly Parameter[]): string => values.map(() => "?").join(", ");

function readHead(row: StoredRow): StoredAnswerHead {
  return withoutAbsent({
    id: text(row, "id"),
    project: text(row, "project"),
    keyId: optionalText(row, "key_id"),
    share: readSharingColumn(row, "share") ?? "project",
    previousId: optionalText(row, "previous_id"),
    state: text(row, "state") as AnswerState,
    inputLength: number(row, "input_length"),
    answerLength: number(row, "answer_length"),
    createdAtMs: number(row, "created_at_ms"),
    expiresAtMs: number(row, "expires_at_ms"),
  });
}

const readAnswer = (row: StoredRow): StoredAnswer => ({
  ...readHead(row),
  input: bytes(row, "input"),
  answer: bytes(row, "answer"),
});
