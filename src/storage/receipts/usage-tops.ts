import { number, text } from "../columns.ts";
import type { Storage } from "../storage.ts";
import { readSums } from "./read-sums.ts";
import type { UsageDimension, UsageQuestion } from "./usage-question.ts";
import { sourcesOf, usageStatement } from "./usage-statement.ts";

/** The sum of one group of one dimension. */
export interface TopSum {
  of: UsageDimension;
  name: string;
  calls: number;
  failures: number;
  costNanoUsd: number;
}

interface LimitedQuestion extends UsageQuestion {
  /** At most this many groups of each dimension. */
  limit: number;
}

const SUMS = ["calls", "failures", "cost_nano_usd"].map((name) => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(", ");

/** The most expensive groups of each dimension. Their sources are read and sorted once for all dimensions. */
export async function sumTops(storage: Storage, question: LimitedQuestion): Promise<TopSum[]> {
  const { by, limit } = question;
  const sources = sourcesOf(storage.engine, question);
  if (sources.length === 0) return [];
  const summed = usageStatement(storage.engine, question, sources, []);
  const tops = by.map(
    (dimension, index) => `SELECT * FROM (SELECT '${dimension}' AS dimension, group_${index} AS name, ${SUMS}
      FROM summed GROUP BY group_${index} ORDER BY 5 DESC, 3 DESC, 2 LIMIT ?) AS top_${index}`,
  );
  const rows = await readSums(storage, `WITH summed AS MATERIALIZED (${summed.text}) ${tops.join(" UNION ALL ")}`, [
    ...summed.parameters,
    ...by.map(() => limit),
  ]);
  return rows.flatMap((row) => {
    const of = by.find((dimension) => dimension === row["dimension"]);
    if (of === undefined) return [];
    const amounts = { calls: number(row, "calls"), failures: number(row, "failures") };
    return [{ of, name: text(row, "name"), ...amounts, costNanoUsd: number(row, "cost_nano_usd") }];
  });
}
