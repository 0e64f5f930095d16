import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import { number, optionalNumber, optionalText } from "../columns.ts";
import { type Queries, REPORT_MS, type Storage } from "../storage.ts";
import { endIdOf, firstIdOf, timeOfId } from "./receipt-ids.ts";

/** Each class of a distribution is a third wider than the previous one: quantiles are accurate to a sixth. */
const GROWTH = 4 / 3;
const LONGEST_MS = 600_000;
const HOUR_MS = 3_600_000;
const BOUNDS_MS = boundsUpTo(LONGEST_MS);
/** The most rows that a query reads: the newest. */
const MAX_ROWS = 200_000;

function boundsUpTo(longest: number): number[] {
  const bounds = [1];
  for (let last = 1; last < longest; ) {
    last = Math.max(last + 1, Math.round(last * GROWTH));
    bounds.push(last);
  }
  return bounds;
}

/** How many calls of one part of the range took how long; `class` is the index of the first bound above. */
export interface LatencyCount {
  /** The part of the range: it began this many times `everyMs` after `sinceMs`. */
  bucket: number;
  class: number;
  calls: number;
}

/** The most receipts that a query of latencies reads, the same number from each part. */
const MAX_SAMPLED = 8_000;
const NOT_KNOWN = -1;

/** The class of a latency: `-1` if it is not known. */
export const classOf = (latency: string): string => {
  const ladder = BOUNDS_MS.map((bound, index) => `WHEN ${latency} < ${bound} THEN ${index}`).join(" ");
  return `CASE WHEN ${latency} IS NULL THEN ${NOT_KNOWN} ${ladder} ELSE ${BOUNDS_MS.length} END`;
};

/** The distribution of latencies over time, from the newest receipts of each part. */
export async function selectLatencies(
  storage: Storage,
  { sinceMs, everyMs, parts }: { sinceMs: number; everyMs: number; parts: number },
  maxSampled = MAX_SAMPLED,
): Promise<Record<"firstContents" | "totals", LatencyCount[]>> {
  const most = Math.ceil(maxSampled / parts);
  // SQLite's view would plan each part with its joins, and none of those columns are needed.
  const table = storage.engine === "sqlite" ? "receipt_rows" : "receipts";
  const newest = Array.from(
    { length: parts },
    (_, bucket) =>
      `SELECT * FROM (SELECT ${bucket} AS bucket, first_content_ms, total_ms FROM ${table}
         WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ${most}) AS part_${bucket}`,
  );
  const ids = Array.from({ length: parts + 1 }, (_, at) => RECEIPT_PREFIX + timePrefix(sinceMs + at * everyMs));
  // Each latency separately: together they would make as many rows as receipts, all of which the event loop would
  // have to process.
  const counted = (latency: string) =>
    `SELECT '${latency}' AS latency, bucket, ${classOf(latency)} AS class, COUNT(*) AS calls FROM newest GROUP BY 2, 3`;
  const rows = await storage.query(
    `WITH newest AS MATERIALIZED (${newest.join(" UNION ALL ")})
     ${counted("first_content_ms")} UNION ALL ${counted("total_ms")}`,
    newest.flatMap((_, bucket) => [ids[bucket] ?? "", ids[bucket + 1] ?? ""]),
    REPORT_MS,
  );
  const counts = (latency: string): LatencyCount[] =>
    rows
      .filter((row) => row["latency"] === latency)
      .map((row) => ({ bucket: number(row, "bucket"), class: number(row, "class"), calls: number(row, "calls") }))
      .filter((count) => count.class !== NOT_KNOWN);
  return { firstContents: counts("first_content_ms"), totals: counts("total_ms") };
}

/** The latency that this share of the calls does not exceed; undefined without calls. */
export function quantileOf(counts: readonly LatencyCount[], share: number): number | undefined {
  const byClass = new Map<number, number>();
  for (const { class: of, calls } of counts) byClass.set(of, (byClass.get(of) ?? 0) + calls);
  const all = [...byClass.values()].reduce((sum, calls) => sum + calls, 0);
  if (all === 0) return undefined;
  let seen = 0;
  for (const [of, calls] of [...byClass].sort(([one], [other]) => one - other)) {
    seen += calls;
    if (seen >= all * share) return BOUNDS_MS[of] ?? LONGEST_MS;
  }
  return LONGEST_MS;
}

/** When the ledger began, accurate to the hour; undefined if it is empty. Roll-ups are kept longer than receipts. */
export async function selectBeginning(queries: Queries): Promise<number | undefined> {
  const [row] = await queries.query(
    "SELECT (SELECT MIN(hour) FROM usage_hours) AS hour, (SELECT MIN(id) FROM receipts) AS id",
    [],
    REPORT_MS,
  );
  if (row === undefined) return undefined;
  const hour = optionalNumber(row, "hour");
  const known = [hour === undefined ? undefined : hour * HOUR_MS, timeOfId(optionalText(row, "id") ?? "")];
  const times = known.filter((ms) => ms !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Calls and spending in one part of the range. */
export interface CallCount {
  bucket: number;
  calls: number;
  failures: number;
  costNanoUsd: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
}

/** As `promptTokens` and `completionTokens` count them, without cache reads. */
const INPUT = ["usage_input", "usage_cache_write_5m", "usage_cache_write_1h", "usage_image_input", "usage_audio_input"];
const OUTPUT = ["usage_output", "usage_reasoning", "usage_image_output", "usage_audio_output"];

const together = (columns: readonly string[]): string =>
  `CAST(SUM(${columns.map((column) => `COALESCE(${column}, 0)`).join(" + ")}) AS BIGINT)`;

/** From the newest receipts of that time, for parts that are shorter than those of roll-ups. */
export async function selectCallCounts(
  queries: Queries,
  { sinceMs, untilMs, everyMs }: { sinceMs: number; untilMs: number; everyMs: number },
): Promise<CallCount[]> {
  const rows = await queries.query(
    `SELECT (created_at_ms - ?) / ? AS bucket,
       CAST(SUM(CASE WHEN adjusts IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS calls,
       CAST(SUM(CASE WHEN adjusts IS NULL AND outcome NOT IN ('ok', 'client_gone') THEN 1 ELSE 0 END) AS BIGINT) AS failures,
       CAST(SUM(cost_nano_usd) AS BIGINT) AS cost_nano_usd,
       ${together(INPUT)} AS input_tokens,
       ${together(["usage_cache_read"])} AS cached_tokens,
       ${together(OUTPUT)} AS output_tokens
     FROM (SELECT created_at_ms, adjusts, outcome, cost_nano_usd, usage_cache_read, ${[...INPUT, ...OUTPUT].join(", ")}
       FROM receipts WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ${MAX_ROWS}) AS newest
     WHERE created_at_ms >= ? AND created_at_ms < ? GROUP BY 1`,
    [sinceMs, everyMs, firstIdOf(sinceMs), endIdOf(untilMs), sinceMs, untilMs],
    REPORT_MS,
  );
  return rows.map((row) => ({
    bucket: number(row, "bucket"),
    calls: number(row, "calls"),
    failures: number(row, "failures"),
    costNanoUsd: number(row, "cost_nano_usd"),
    inputTokens: number(row, "input_tokens"),
    cachedTokens: number(row, "cached_tokens"),
    outputTokens: number(row, "output_tokens"),
  }));
}
