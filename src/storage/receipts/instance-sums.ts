import { number, text } from "../columns.ts";
import { type Parameter, type Queries, START_SUMS_MS, type Storage } from "../storage.ts";
import { firstIdOf } from "./receipt-ids.ts";
import { mayBeUnsummed, NOT_ROLLED_UP, ofReceipt, tagOf, withTags } from "./roll-up-columns.ts";
import { TOKENS_OF_ROW, tagCondition } from "./usage-sums.ts";

const DAY_MS = 86_400_000;

/** What the sums are apart for, besides keys. */
type Part = "model" | { tagsLike: readonly string[] };

interface InstanceSumsQuestion {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** These are listed separately. */
  instances: readonly string[];
  /** None of their receipts is older. */
  startedMs: number;
  /** All others are summed up as "". */
  withOthers: boolean;
  by?: Part | undefined;
}

export interface InstanceSum {
  instance: string;
  keyId: string;
  project: string;
  /** Empty unless the sums are apart for models. */
  model: string;
  /** Empty unless they are apart for tags. */
  tags: readonly string[];
  costNanoUsd: number;
  calls: number;
  tokens: number;
}

/**
 * The spending of instances, by key, in one statement, so that no row is missed or counted twice between two. That of named
 * instances is in their receipts, and in what retention has kept of those; everything together is in the sums by day, and what the
 * named ones have not written was written by others. The window begins and ends with a day.
 */
export async function sumCostByInstance(storage: Storage, question: InstanceSumsQuestion): Promise<InstanceSum[]> {
  const { engine } = storage;
  const { sinceMs, untilMs, instances, startedMs, withOthers, by } = question;
  const days = [Math.floor(sinceMs / DAY_MS), Math.ceil(untilMs / DAY_MS)];
  const named = `instance IN (${["NULL", ...instances.map(() => "?")].join(", ")})`;
  const model = by === "model" ? "model" : "''";
  const parts: string[] = [];
  const parameters: Parameter[] = [];
  const add = (select: string, more: readonly Parameter[]) => {
    parts.push(select);
    parameters.push(...more);
  };
  const columns = (writer: string, sign: "" | "-", calls: string, tag: string, tags: string) =>
    `SELECT ${writer} AS writer, key_id, project, ${model} AS model, ${tag} AS tag, ${tags} AS tags,
       ${sign}cost_nano_usd AS cost, ${sign}(${calls}) AS calls, ${sign}(TOKENS) AS tokens`;
  const ofRow = (select: string) => select.replace("TOKENS", TOKENS_OF_ROW);
  const ofDay = (select: string) => select.replace("TOKENS", "tokens");
  const calls = ofReceipt("calls");
  const tags = typeof by === "object" ? "COALESCE(tags, '')" : "''";
  const hasTags = typeof by === "object" ? "AND tags IS NOT NULL AND tags <> ''" : "";
  const receipts = `receipts.id >= ? AND created_at_ms >= ? AND created_at_ms < ? AND ${named}`;
  const since = Math.max(sinceMs, startedMs);
  const inReceipts = [firstIdOf(since), since, untilMs, ...instances];
  const inDays = [...days, ...instances];
  add(`${ofRow(columns("instance", "", calls, "''", tags))} FROM receipts WHERE ${receipts} ${hasTags}`, inReceipts);
  add(
    `${ofDay(columns("instance", "", "calls", "''", tags))} FROM instance_days WHERE day >= ? AND day < ? AND ${named} ${hasTags}`,
    inDays,
  );
  if (withOthers) {
    const condition =
      typeof by === "object" ? tagCondition(engine, by.tagsLike) : { text: () => "1 = 1", parameters: [] };
    const isTag = typeof by === "object";
    const from = (table: string) => (isTag ? `${table} ${withTags(engine, table)}` : table);
    const [tag, matches] = isTag ? [tagOf(engine), `AND ${condition.text(tagOf(engine))}`] : ["''", ""];
    const [table, tagColumn] = isTag ? ["tag_days", "tag"] : ["usage_days", "''"];
    const { parameters: like } = condition;
    add(
      `${ofRow(columns("''", "", "calls", tagColumn, "''"))} FROM ${table} WHERE day >= ? AND day < ? AND ${condition.text("tag")}`,
      [...days, ...like],
    );
    if (mayBeUnsummed(engine))
      add(
        `${ofRow(columns("''", "", calls, tag, "''"))} FROM ${from("receipts")}
         WHERE ${NOT_ROLLED_UP} AND created_at_ms >= ? AND created_at_ms < ? ${matches}`,
        [sinceMs, untilMs, ...like],
      );
    add(`${ofRow(columns("''", "-", calls, tag, "''"))} FROM ${from("receipts")} WHERE ${receipts} ${matches}`, [
      ...inReceipts,
      ...like,
    ]);
    add(
      `${ofDay(columns("''", "-", "calls", tag, "''"))} FROM ${from("instance_days")}
       WHERE day >= ? AND day < ? AND ${named} ${hasTags} ${matches}`,
      [...inDays, ...like],
    );
  }
  const rows = await storage.query(
    `SELECT writer, key_id, project, model, tag, tags, CAST(SUM(cost) AS BIGINT) AS cost, CAST(SUM(calls) AS BIGINT) AS calls,
       CAST(SUM(tokens) AS BIGINT) AS tokens
     FROM (${parts.join(" UNION ALL ")}) AS written GROUP BY writer, key_id, project, model, tag, tags`,
    parameters,
    START_SUMS_MS,
  );
  return rows.map((row) => ({
    instance: text(row, "writer"),
    keyId: text(row, "key_id"),
    project: text(row, "project"),
    model: text(row, "model"),
    tags: tagsOf(text(row, "tag"), text(row, "tags")),
    costNanoUsd: number(row, "cost"),
    calls: number(row, "calls"),
    tokens: number(row, "tokens"),
  }));
}

const tagsOf = (tag: string, tags: string): readonly string[] =>
  tags === "" ? (tag === "" ? [] : [tag]) : (JSON.parse(tags) as string[]);

/** Before receipts are deleted: what running instances have spent with them is kept. Call it in the transaction that deletes them. */
export async function keepInstanceDays(queries: Queries, ids: readonly string[]): Promise<void> {
  await queries.query(
    `INSERT INTO instance_days (instance, day, project, key_id, model, tags, calls, tokens, cost_nano_usd)
     SELECT instance, created_at_ms / ${DAY_MS}, project, key_id, model, COALESCE(tags, ''), SUM(${ofReceipt("calls")}),
       SUM(${TOKENS_OF_ROW}), SUM(cost_nano_usd)
     FROM receipts WHERE id IN (${ids.map(() => "?").join(", ")}) AND instance IN (SELECT id FROM instances)
     GROUP BY 1, 2, 3, 4, 5, 6
     ON CONFLICT (instance, day, project, key_id, model, tags) DO UPDATE SET
       calls = instance_days.calls + excluded.calls, tokens = instance_days.tokens + excluded.tokens,
       cost_nano_usd = instance_days.cost_nano_usd + excluded.cost_nano_usd`,
    ids,
  );
}

/** Nobody reports any more what stopped instances have spent: it is that of others. */
export async function forgetInstanceDays(queries: Queries): Promise<void> {
  await queries.query("DELETE FROM instance_days WHERE instance NOT IN (SELECT id FROM instances)");
}
