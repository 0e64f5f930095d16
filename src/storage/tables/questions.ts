import { number, text } from "../columns.ts";
import type { Queries, Storage } from "../storage.ts";

/** What one process asks all others. */
export interface StoredQuestion {
  /** Later questions have higher numbers. */
  number: number;
  /** The instance that asks. */
  asker: string;
  kind: string;
  /** JSON. */
  details: string;
}

/** A longer answer is not read. */
export const MAX_ANSWER_CHARACTERS = 1_000_000;
/** Rows of processes that died while they asked are removed after this time by the next that asks. */
const KEPT_MS = 300_000;
/** How many questions a process answers in one turn. More are not asked by people. */
const MAX_AT_ONCE = 100;

/** Writes a question and returns its number. The counter tells all processes that there is one. */
export function insertQuestion(
  storage: Storage,
  { asker, kind, details }: Omit<StoredQuestion, "number">,
  nowMs: number,
  limitMs: number,
): Promise<number> {
  return storage.transaction(async (queries) => {
    // Others that ask wait here until the transaction ends, so the numbers are in order.
    const counted = "UPDATE change_counters SET value = value + 1 WHERE name = 'questions' RETURNING value";
    const [row] = await queries.query(counted);
    const asked = row === undefined ? 0 : number(row, "value");
    await queries.query("DELETE FROM questions WHERE asked_at_ms < ?", [Math.floor(nowMs) - KEPT_MS]);
    await queries.query("DELETE FROM question_answers WHERE question NOT IN (SELECT number FROM questions)");
    await queries.query("INSERT INTO questions (number, asker, kind, details, asked_at_ms) VALUES (?, ?, ?, ?, ?)", [
      asked,
      asker,
      kind,
      details,
      Math.floor(nowMs),
    ]);
    return asked;
  }, limitMs);
}

/** The questions after a number, in order. */
export async function selectQuestions(queries: Queries, after: number): Promise<StoredQuestion[]> {
  const rows = await queries.query(
    `SELECT number, asker, kind, details FROM questions WHERE number > ? ORDER BY number LIMIT ${MAX_AT_ONCE}`,
    [after],
  );
  return rows.map((row) => ({
    number: number(row, "number"),
    asker: text(row, "asker"),
    kind: text(row, "kind"),
    details: text(row, "details"),
  }));
}

/** Nothing is written if the question was removed, because no process would read the answer. */
export async function insertAnswer(
  queries: Queries,
  { question, instance, answer }: { question: number; instance: string; answer: string },
): Promise<void> {
  await queries.query(
    `INSERT INTO question_answers (question, instance, answer)
     SELECT number, CAST(? AS TEXT), CAST(? AS TEXT) FROM questions WHERE number = ?
     ON CONFLICT (question, instance) DO NOTHING`,
    [instance, answer, question],
  );
}

/** The answers of these instances, without those that are too long. */
export async function selectAnswers(
  queries: Queries,
  question: number,
  instances: readonly string[],
  limitMs: number,
): Promise<{ instance: string; answer: string }[]> {
  const rows = await queries.query(
    `SELECT instance, answer FROM question_answers
     WHERE question = ? AND length(answer) <= ${MAX_ANSWER_CHARACTERS} AND instance IN (${instances.map(() => "?").join(", ")})`,
    [question, ...instances],
    limitMs,
  );
  return rows.map((row) => ({ instance: text(row, "instance"), answer: text(row, "answer") }));
}

export async function deleteQuestion(queries: Queries, asked: number): Promise<void> {
  await queries.query("DELETE FROM questions WHERE number = ?", [asked]);
  await queries.query("DELETE FROM question_answers WHERE question = ?", [asked]);
}
