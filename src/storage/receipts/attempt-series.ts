import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import { number, optionalNumber, text } from "../columns.ts";
import { REPORT_MS, type Storage } from "../storage.ts";
import { attemptOf, type MeasuredCount } from "./measured-calls.ts";
import { classOf } from "./receipt-series.ts";

interface Parts {
  sinceMs: number;
  everyMs: number;
  parts: number;
}

interface AttemptSeries {
  counts: MeasuredCount[];
  /** The parts of which only the newest receipts were read. */
  sampled: ReadonlySet<number>;
}

/** The attempts at one provider in each part of the range, from a bounded number of its newest receipts. */
export async function selectAttemptSeries(
  storage: Storage,
  provider: string,
  { sinceMs, everyMs, parts }: Parts,
  mostOfPart: number,
): Promise<AttemptSeries> {
  const { table, each, ms, sums } = attemptOf(storage.engine);
  const newest = Array.from(
    { length: parts },
    (_, bucket) =>
      `SELECT * FROM (SELECT ${bucket} AS bucket, offers, adjusts, usage_output, usage_reasoning, provider_stream_ms
         FROM ${table} WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ${mostOfPart}) AS part_${bucket}`,
  );
  const ids = Array.from({ length: parts + 1 }, (_, at) => RECEIPT_PREFIX + timePrefix(sinceMs + at * everyMs));
  const rows = await storage.query(
    `WITH newest AS MATERIALIZED (${newest.join(" UNION ALL ")})
     SELECT bucket, '' AS outcome, -1 AS class, COUNT(*) AS calls, 0 AS streamed_tokens, 0 AS stream_ms
     FROM newest GROUP BY 1
     UNION ALL
     SELECT bucket, offer.value ->> 'outcome' AS outcome, ${classOf(ms)} AS class, ${sums}
     FROM newest CROSS JOIN ${each}
     WHERE offers LIKE ? AND offer.value ->> 'provider' = ? AND adjusts IS NULL GROUP BY 1, 2, 3`,
    // Most receipts are of other providers, and their offers need not be parsed.
    [...newest.flatMap((_, bucket) => [ids[bucket] ?? "", ids[bucket + 1] ?? ""]), `%${provider}%`, provider],
    REPORT_MS,
  );
  const counts = rows.map((row) => ({
    groups: [provider],
    outcome: text(row, "outcome"),
    bucket: number(row, "bucket"),
    class: optionalNumber(row, "class") ?? -1,
    calls: number(row, "calls"),
    streamedTokens: number(row, "streamed_tokens"),
    streamMs: number(row, "stream_ms"),
  }));
  const full = counts.filter(({ outcome, calls }) => outcome === "" && calls >= mostOfPart);
  return {
    counts: counts.filter(({ outcome }) => outcome !== ""),
    sampled: new Set(full.map(({ bucket }) => bucket)),
  };
}
