import { GatewayError } from "../../canon/error.ts";
import { USAGE_COUNTERS, type Usage } from "../../canon/usage.ts";
import { number, text as textOf } from "../columns.ts";
import type { Storage } from "../storage.ts";
import { inFirstHours } from "./first-hours.ts";
import { withPresentCounters } from "./present-counters.ts";
import { readSums } from "./read-sums.ts";
import { readUsageColumns, USAGE_COLUMNS } from "./receipt-columns.ts";
import { isOfEndUsers, type UsageDimension, type UsageQuestion } from "./usage-question.ts";
import { boundsOf, rowsOf, type Source, sourcesOf, usageStatement } from "./usage-statement.ts";

export interface UsageSum {
  /** In the order of the requested dimensions. Hours and days are numbers since 1970. */
  groups: string[];
  calls: number;
  /** Calls that ended in an error; client disconnects do not count. */
  failures: number;
  usage: Usage;
  costNanoUsd: number;
}

interface LimitedQuestion extends UsageQuestion {
  /** At most this many groups. */
  limit: number;
}

/**
 * Calls, counters, cost and failures by group. Each group is read in one statement over all sources: rows written in
 * the meantime are in all of them or in none. Times are in order, other groups by cost, highest first.
 */
export async function readUsageReport(storage: Storage, question: LimitedQuestion): Promise<UsageSum[]> {
  const { by, sources, limit } = question;
  if (sourcesOf(storage.engine, question).length === 0) return [];
  return withPresentCounters(storage, question, async (counters) => {
    const tagSums = new TagSums(storage);
    const sum = async (part: LimitedQuestion) => {
      const needed = sourcesOf(storage.engine, part);
      if (by.includes("tag")) await tagSums.count(needed);
      if (by.includes("end_user")) await countReceipts(storage, part, needed);
      return sumSources(storage, part, needed, counters);
    };
    const isLong = !isOfEndUsers(question) && by.includes("hour") && by.length > 1 && !by.includes("day");
    if (!isLong) return sum(question);
    return inFirstHours(sources, limit, (some, most) => sum({ ...question, sources: some, limit: most }));
  });
}

async function sumSources(
  storage: Storage,
  question: LimitedQuestion,
  sources: readonly Source[],
  counters: readonly string[],
): Promise<UsageSum[]> {
  const { by, limit } = question;
  const statement = usageStatement(storage.engine, question, sources, counters);
  const text = `${statement.text} ORDER BY ${orderOf(by)} LIMIT ?`;
  const rows = await readSums(storage, text, [...statement.parameters, limit]);
  const groups = by.map((_, index) => `group_${index}`);
  const counted = USAGE_COUNTERS.filter((counter) => counters.includes(USAGE_COLUMNS[counter]));
  return rows.map((row) => ({
    groups: groups.map((group) => textOf(row, group)),
    calls: number(row, "calls"),
    failures: number(row, "failures"),
    usage: readUsageColumns(row, counted),
    costNanoUsd: number(row, "cost_nano_usd"),
  }));
}

/** The most sums of tags that one report reads: callers invent tags, and in SQLite other reports wait for this one. */
const MAX_TAG_SUMS = 200_000;

class TagSums {
  readonly #storage: Storage;
  #left = MAX_TAG_SUMS;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Counts the sums that are about to be read. Throws if they are too many, together with the previous ones. */
  async count(sources: readonly Source[]): Promise<void> {
    const sums = sources.filter(({ table }) => table !== "receipts");
    if (sums.length === 0) return;
    const { engine } = this.#storage;
    const some = sums.map((source) => `SELECT 1 AS one FROM ${rowsOf(engine, source)}`).join(" UNION ALL ");
    const [row] = await readSums(
      this.#storage,
      `SELECT COUNT(*) AS count FROM (${some} LIMIT ${this.#left + 1}) AS counted`,
      sums.flatMap((source) => boundsOf(engine, source)),
    );
    this.#left -= row === undefined ? 0 : number(row, "count");
    if (this.#left >= 0) return;
    const message = `This range has more than ${MAX_TAG_SUMS.toLocaleString("en")} sums of tags, the most that a report reads. Use a shorter range, or filter by one tag.`;
    throw new GatewayError("invalid_request", message, { path: "by" });
  }
}

/** The most receipts of end users that one report reads: there is one for each call. */
const MAX_USER_RECEIPTS = 500_000;

async function countReceipts(storage: Storage, question: UsageQuestion, sources: readonly Source[]): Promise<void> {
  const { engine } = storage;
  const table = engine === "sqlite" ? "receipt_rows AS receipts" : "receipts";
  const isNarrow = question.endUser !== undefined || question.by.includes("tag");
  if (isNarrow) return;
  const some = sources.map((source) => `SELECT 1 AS one FROM ${rowsOf(engine, source, table)}`).join(" UNION ALL ");
  const [row] = await readSums(
    storage,
    `SELECT COUNT(*) AS count FROM (${some} LIMIT ${MAX_USER_RECEIPTS + 1}) AS counted`,
    sources.flatMap((source) => boundsOf(engine, source)),
  );
  if (row === undefined || number(row, "count") <= MAX_USER_RECEIPTS) return;
  const message = `This range has more than ${MAX_USER_RECEIPTS.toLocaleString("en")} receipts of end users, the most that a report reads. Use a shorter range, or filter by one end user.`;
  throw new GatewayError("invalid_request", message, { path: "by" });
}

function orderOf(by: readonly UsageDimension[]): string {
  const times = by.flatMap((dimension, index) =>
    dimension === "hour" || dimension === "day" ? [`group_${index}`] : [],
  );
  return [...times, "cost_nano_usd DESC", "calls DESC", ...by.map((_, index) => `group_${index}`)].join(", ");
}
