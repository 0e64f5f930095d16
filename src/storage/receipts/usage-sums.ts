import { number, text } from "../columns.ts";
import { type Parameter, START_SUMS_MS, type Storage } from "../storage.ts";
import { USAGE_COLUMNS } from "./receipt-columns.ts";
import { mayBeUnsummed, NOT_ROLLED_UP, ofReceipt, tagOf, withTags } from "./roll-up-columns.ts";

const DAY_MS = 86_400_000;

/** When the current windows began. */
export interface WindowStarts {
  dayMs: number;
  weekMs: number;
  monthMs: number;
  quarterMs: number;
}

/** Nano-dollars by window, and the calls and tokens of the day. */
export interface WindowSums {
  day: number;
  week: number;
  month: number;
  quarter: number;
  total: number;
  requests: number;
  tokens: number;
}

interface KeyCost extends WindowSums {
  project: string;
  keyId: string;
  /** The model or tag; "" if they are summed without it. */
  part: string;
}

/** The counters of what limits call tokens. */
const TOKEN_COUNTERS = [
  ...(["input", "imageInput", "audioInput", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const),
  ...(["output", "imageOutput", "audioOutput", "reasoning"] as const),
];
const TOKENS = TOKEN_COUNTERS.map((counter) => USAGE_COLUMNS[counter]);
/** The tokens of a receipt, or of a sum. */
export const TOKENS_OF_ROW = TOKENS.map((name) => `COALESCE(${name}, 0)`).join(" + ");

/** What the sums are apart for, besides keys. */
type Part = "model" | { tagsLike: readonly string[] };

/**
 * The use of every key in every project since those times, and in total, including receipts that are deleted; by model,
 * or for the tags that match one of the patterns.
 */
export async function sumCostByKey(storage: Storage, starts: WindowStarts, part?: Part): Promise<KeyCost[]> {
  const { engine } = storage;
  const isTag = typeof part === "object";
  const tags = isTag ? tagCondition(engine, part.tagsLike) : undefined;
  const name = part === undefined ? "''" : isTag ? "tag" : "model";
  const columns = `project, key_id, ${name} AS part, day, cost_nano_usd, calls, ${TOKENS_OF_ROW} AS tokens`;
  const ofReceipts = [
    `project, key_id, ${isTag ? tagOf(engine) : name} AS part, created_at_ms / ${DAY_MS} AS day, cost_nano_usd`,
    `${ofReceipt("calls")} AS calls, ${TOKENS_OF_ROW} AS tokens`,
  ].join(", ");
  const unsummed = mayBeUnsummed(engine)
    ? `UNION ALL SELECT ${ofReceipts} FROM receipts ${isTag ? withTags(engine) : ""} WHERE ${NOT_ROLLED_UP} ${tags === undefined ? "" : `AND ${tags.text(tagOf(engine))}`}`
    : "";
  const [table, where] = tags === undefined ? ["usage_days", ""] : ["tag_days", `WHERE ${tags.text("tag")}`];
  const since = (sum: string, as: string) => `CAST(SUM(CASE WHEN day >= ? THEN ${sum} ELSE 0 END) AS BIGINT) AS ${as}`;
  const rows = await storage.query(
    `SELECT project, key_id, part, ${since("cost_nano_usd", "day_cost")}, ${since("cost_nano_usd", "week_cost")},
       ${since("cost_nano_usd", "month_cost")}, ${since("cost_nano_usd", "quarter_cost")},
       ${since("calls", "requests")}, ${since("tokens", "tokens_of_day")},
       CAST(SUM(cost_nano_usd) AS BIGINT) AS total_cost
     FROM (SELECT ${columns} FROM ${table} ${where} ${unsummed}) AS days
     GROUP BY project, key_id, part`,
    [
      ...[starts.dayMs, starts.weekMs, starts.monthMs, starts.quarterMs, starts.dayMs, starts.dayMs].map(
        (ms) => ms / DAY_MS,
      ),
      ...(tags?.parameters ?? []),
      ...(mayBeUnsummed(engine) ? (tags?.parameters ?? []) : []),
    ],
    START_SUMS_MS,
  );
  return rows.map((row) => ({
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    part: text(row, "part"),
    day: number(row, "day_cost"),
    week: number(row, "week_cost"),
    month: number(row, "month_cost"),
    quarter: number(row, "quarter_cost"),
    total: number(row, "total_cost"),
    requests: number(row, "requests"),
    tokens: number(row, "tokens_of_day"),
  }));
}

/** Tags contain no character that has a meaning in GLOB, and only the underscore has one in LIKE. */
export function tagCondition(engine: Storage["engine"], patterns: readonly string[]) {
  const like = engine === "sqlite" ? "GLOB ?" : "LIKE ?";
  const parameters: Parameter[] = patterns.map((pattern) =>
    engine === "sqlite" ? pattern : pattern.replaceAll("_", "\\_").replaceAll("*", "%"),
  );
  return { text: (name: string) => `(${patterns.map(() => `${name} ${like}`).join(" OR ")})`, parameters };
}
