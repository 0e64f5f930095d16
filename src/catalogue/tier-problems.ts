import type { PriceItem, TokenRange } from "./model.ts";

/** The first and the last number of tokens of a tier. */
interface Tier {
  from: number;
  to: number;
}

const TIERED = ["prompt_tokens", "completion_tokens"] as const;

/** Problems with the tiers of one price, phrased to follow its name. */
export function tierProblems(items: readonly PriceItem[]): string[] {
  const byResolution = Map.groupBy(items, ({ resolution, unit }) => `${unit} ${resolution ?? ""}`);
  return [...byResolution.values()].flatMap((list) => TIERED.flatMap((by) => problemsOf(list, by)));
}

function problemsOf(items: readonly PriceItem[], by: (typeof TIERED)[number]): string[] {
  const other = by === "prompt_tokens" ? "completion_tokens" : "prompt_tokens";
  // Tiers in both directions form a table, whose rows are checked separately.
  const rows = Map.groupBy(
    items.filter(({ conditions }) => conditions?.[by] !== undefined),
    ({ conditions }) => JSON.stringify(conditions?.[other] ?? null),
  );
  const hasPlain = items.some(({ conditions }) => conditions === undefined);
  return [...rows.values()].flatMap((row) => {
    const tiers = row.flatMap(({ conditions }) => tierOf(conditions?.[by]) ?? []);
    return rowProblems(
      tiers.toSorted((one, next) => one.from - next.from),
      by,
      hasPlain,
    );
  });
}

function tierOf(range: TokenRange | undefined): Tier | undefined {
  if (range === undefined) return undefined;
  const from = Math.max((range.gte ?? 0) * 1000, range.gt == null ? 0 : Math.floor(range.gt * 1000) + 1);
  const to = Math.min(
    (range.lte ?? Number.POSITIVE_INFINITY) * 1000,
    range.lt == null ? Number.POSITIVE_INFINITY : Math.ceil(range.lt * 1000) - 1,
  );
  return { from, to };
}

/** A plain price beside the tiers stands in where none of them holds. */
function rowProblems(tiers: readonly Tier[], by: string, hasPlain: boolean): string[] {
  const words = by.replace("_", " ");
  const problems: string[] = [];
  let next = 0;
  for (const { from, to } of tiers) {
    if (to < from) problems.push(`has a tier of ${words} that no call can match: from ${from} to ${to}`);
    else if (from > next && !hasPlain) problems.push(`has no tier for ${next} to ${from - 1} ${words}`);
    else if (from < next) problems.push(`has two tiers for ${from} to ${Math.min(next - 1, to)} ${words}`);
    next = Math.max(next, to + 1);
  }
  if (next < Number.POSITIVE_INFINITY && !hasPlain) problems.push(`has no tier for ${next} and more ${words}`);
  return problems;
}
