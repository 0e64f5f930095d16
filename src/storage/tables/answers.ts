import { withoutAbsent } from "../../base/without-absent.ts";
import type { Owned, Reader } from "../../canon/ownership.ts";
import { bytes, number, optionalText, readSharingColumn, text } from "../columns.ts";
import type { Parameter, Queries, Storage, StoredRow } from "../storage.ts";

/** `pending`: it is being made in the background. `done`: later requests may build on it. */
export type AnswerState = "pending" | "done" | "failed" | "cancelled";

/** A stored answer; its content is sealed. */
export interface StoredAnswer extends Owned {
  id: string;
  /** The answer that it builds on. */
  previousId?: string;
  /** The conversation that it is a turn of, and where the items before it end. */
  conversation?: { id: string; end: number };
  /** The model that made it, if it is listed. */
  model?: string;
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
  "id, project, key_id, share, previous_id, conversation_id, conversation_end, model, state, input_length, answer_length, created_at_ms, expires_at_ms";
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

/** What is stored together with an answer. */
export interface WithAnswer {
  /** The items that requests can refer to. */
  itemIds: readonly string[];
  /** What a listed answer can be found by. */
  metadata?: Readonly<Record<string, string>> | undefined;
  /** More that is part of the same transaction. */
  also?: ((queries: Queries) => Promise<void>) | undefined;
}

export async function insertAnswer(
  storage: Storage,
  answer: StoredAnswer,
  { itemIds, metadata, also }: WithAnswer,
): Promise<void> {
  const { conversation } = answer;
  await storage.transaction(async (queries) => {
    const marks = Array.from({ length: 16 }, () => "?").join(", ");
    const insert = `INSERT INTO answers (${ALL}, size) VALUES (${marks}) ON CONFLICT DO NOTHING RETURNING id`;
    const inserted = await queries.query(insert, [
      answer.id,
      answer.project,
      answer.keyId ?? null,
      answer.share,
      answer.previousId ?? null,
      conversation?.id ?? null,
      conversation?.end ?? null,
      answer.model ?? null,
      answer.state,
      answer.inputLength,
      answer.answerLength,
      answer.createdAtMs,
      answer.expiresAtMs,
      answer.input,
      answer.answer,
      answer.input.length + answer.answer.length,
    ]);
    // An earlier attempt was stored after all. Ids are the gateway's own.
    if (inserted.length === 0) return;
    await insertItems(queries, answer, itemIds);
    if (metadata !== undefined) await insertMetadata(queries, answer, metadata);
    await also?.(queries);
  });
}

async function insertMetadata(
  queries: Queries,
  { id, project }: Pick<StoredAnswer, "id" | "project">,
  metadata: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, value] of Object.entries(metadata)) {
    await queries.query("INSERT INTO answer_metadata (answer_id, project, name, value) VALUES (?, ?, ?, ?)", [
      id,
      project,
      name,
      value,
    ]);
  }
}

/** False if there is no such answer. */
export async function replaceMetadata(
  storage: Storage,
  answer: Pick<StoredAnswer, "id" | "project">,
  metadata: Readonly<Record<string, string>>,
): Promise<boolean> {
  const { id, project } = answer;
  return await storage.transaction(async (queries) => {
    // Locks the row, so that two changes do not mix.
    const found = await queries.query("UPDATE answers SET model = model WHERE id = ? AND project = ? RETURNING id", [
      id,
      project,
    ]);
    if (found.length === 0) return false;
    await queries.query("DELETE FROM answer_metadata WHERE answer_id = ? AND project = ?", [id, project]);
    await insertMetadata(queries, answer, metadata);
    return true;
  });
}

/** The metadata of these answers, by id. */
export async function selectMetadata(
  queries: Queries,
  project: string,
  ids: readonly string[],
): Promise<Map<string, Record<string, string>>> {
  const found = new Map(ids.map((id): [string, Record<string, string>] => [id, {}]));
  if (ids.length === 0) return found;
  const rows = await queries.query(
    `SELECT answer_id, name, value FROM answer_metadata WHERE project = ? AND answer_id IN (${placeholders(ids)}) ORDER BY name`,
    [project, ...ids],
  );
  for (const row of rows) {
    const metadata = found.get(text(row, "answer_id"));
    if (metadata !== undefined) metadata[text(row, "name")] = text(row, "value");
  }
  return found;
}

/** Which answers to list: a page of those that the reader may see. */
export interface AnswerPage {
  order: "asc" | "desc";
  limit: number;
  model?: string | undefined;
  /** An answer must have all of these pairs. */
  metadata?: Readonly<Record<string, string>> | undefined;
  /** Only those that follow this one. */
  after?: Pick<StoredAnswer, "createdAtMs" | "id"> | undefined;
}

/** Answers with a model, by age. */
export async function listAnswers(
  queries: Queries,
  { project, keyId }: Reader,
  { order, limit, model, metadata = {}, after }: AnswerPage,
  nowMs: number,
): Promise<StoredAnswerHead[]> {
  const conditions = [
    "project = ? AND model IS NOT NULL AND state = 'done' AND expires_at_ms > ? AND (share = 'project' OR key_id = ?)",
  ];
  const parameters: Parameter[] = [project, Math.floor(nowMs), keyId];
  if (model !== undefined) {
    conditions.push("model = ?");
    parameters.push(model);
  }
  for (const pair of Object.entries(metadata)) {
    conditions.push(
      "EXISTS (SELECT 1 FROM answer_metadata WHERE answer_id = answers.id AND project = answers.project AND name = ? AND value = ?)",
    );
    parameters.push(...pair);
  }
  if (after !== undefined) {
    conditions.push(`(created_at_ms, id) ${order === "asc" ? ">" : "<"} (?, ?)`);
    parameters.push(after.createdAtMs, after.id);
  }
  const rows = await queries.query(
    `SELECT ${HEAD} FROM answers WHERE ${conditions.join(" AND ")} ORDER BY created_at_ms ${order}, id ${order} LIMIT ?`,
    [...parameters, limit],
  );
  return rows.map(readHead);
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
  { itemIds, also }: Pick<WithAnswer, "itemIds" | "also">,
): Promise<boolean> {
  return await storage.transaction(async (queries) => {
    const ended = await queries.query(
      `UPDATE answers SET state = ?, answer = ?, answer_length = ?, size = LENGTH(input) + ?
       WHERE id = ? AND project = ? AND state = 'pending' RETURNING id`,
      [answer.state, answer.answer, answer.answerLength, answer.answer.length, answer.id, answer.project],
    );
    if (ended.length === 0) return false;
    await insertItems(queries, answer, itemIds);
    await also?.(queries);
    return true;
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
  const conversationId = optionalText(row, "conversation_id");
  return withoutAbsent({
    id: text(row, "id"),
    project: text(row, "project"),
    keyId: optionalText(row, "key_id"),
    share: readSharingColumn(row, "share") ?? "project",
    previousId: optionalText(row, "previous_id"),
    conversation:
      conversationId === undefined ? undefined : { id: conversationId, end: number(row, "conversation_end") },
    model: optionalText(row, "model"),
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
