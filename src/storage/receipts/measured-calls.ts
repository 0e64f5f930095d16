import { number, optionalNumber, text } from "../columns.ts";
import { REPORT_MS, type Storage } from "../storage.ts";
import { endIdOf, firstIdOf, timeOfId } from "./receipt-ids.ts";
import { selectIdAt } from "./receipt-pages.ts";
import { classOf, type LatencyCount } from "./receipt-series.ts";

/** The most receipts that one question reads: the newest. */
const MAX_RECEIPTS = 10_000;

/** Calls with the same group, outcome and class of latency. */
export interface MeasuredCount extends LatencyCount {
  /** In the order of the question. */
  groups: string[];
  outcome: string;
  /** Of streams, and how long they took from their first content. */
  streamedTokens: number;
  streamMs: number;
}

export interface Measured {
  /** Where the receipts that were read begin. */
  fromMs: number;
  counts: MeasuredCount[];
}

interface Range {
  sinceMs: number;
  untilMs: number;
}

/** Attempts by provider and credential (empty: it has only one), including those of calls that another offer answered. */
export const selectAttempts = (storage: Storage, range: Range): Promise<Measured> =>
  readMeasured(storage, range, (table) => {
    const each =
      storage.engine === "postgres"
        ? "json_array_elements(CAST(newest.offers AS JSON)) AS offer (value)"
        : "json_each(newest.offers) AS offer";
    const ms = "CAST(offer.value ->> 'ms' AS DOUBLE PRECISION)";
    const of = (amount: string) => `CASE WHEN offer.value ->> 'outcome' = 'answered' THEN ${amount} ELSE 0 END`;
    return {
      groups: 2,
      text: `SELECT offer.value ->> 'provider' AS group_0, COALESCE(offer.value ->> 'credential', '') AS group_1,
        offer.value ->> 'outcome' AS outcome, ${classOf(ms)} AS class, ${sums(of)}
      FROM ${table} AS newest CROSS JOIN ${storage.engine === "postgres" ? "LATERAL " : ""}${each}
      WHERE newest.id >= ? AND newest.id < ? AND newest.adjusts IS NULL GROUP BY 1, 2, 3, 4`,
    };
  });

/** Calls by model and the provider that answered, by the time to their first content. */
export const selectSpeeds = (storage: Storage, range: Range): Promise<Measured> =>
  readMeasured(storage, range, () => ({
    groups: 2,
    text: `SELECT newest.model AS group_0, newest.provider AS group_1, newest.outcome AS outcome,
      ${classOf("newest.first_content_ms")} AS class, ${sums((amount) => amount)}
    FROM receipts AS newest WHERE newest.id >= ? AND newest.id < ? AND newest.adjusts IS NULL GROUP BY 1, 2, 3, 4`,
  }));

const TOKENS = ["output", "reasoning"].map((name) => `COALESCE(newest.usage_${name}, 0)`).join(" + ");
const STREAM_MS = "COALESCE(newest.provider_stream_ms, 0)";

const sums = (of: (amount: string) => string): string =>
  `COUNT(*) AS calls,
   CAST(SUM(${of(`CASE WHEN ${STREAM_MS} > 0 THEN ${TOKENS} ELSE 0 END`)}) AS BIGINT) AS streamed_tokens,
   CAST(SUM(${of(STREAM_MS)}) AS BIGINT) AS stream_ms`;

async function readMeasured(
  storage: Storage,
  { sinceMs, untilMs }: Range,
  questionOf: (table: string) => { text: string; groups: number },
): Promise<Measured> {
  const range = { firstId: firstIdOf(sinceMs), endId: endIdOf(untilMs) };
  const bound = await selectIdAt(storage, range, { offset: MAX_RECEIPTS - 1, newestFirst: true });
  // SQLite's view would join columns that attempts do not need.
  const question = questionOf(storage.engine === "sqlite" ? "receipt_rows" : "receipts");
  const rows = await storage.query(question.text, [bound ?? range.firstId, range.endId], REPORT_MS);
  return {
    fromMs: Math.max(sinceMs, (bound === undefined ? undefined : timeOfId(bound)) ?? sinceMs),
    counts: rows.map((row) => ({
      groups: Array.from({ length: question.groups }, (_, index) => text(row, `group_${index}`)),
      outcome: text(row, "outcome"),
      bucket: 0,
      class: optionalNumber(row, "class") ?? -1,
      calls: number(row, "calls"),
      streamedTokens: number(row, "streamed_tokens"),
      streamMs: number(row, "stream_ms"),
    })),
  };
}
