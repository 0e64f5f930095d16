import { usd } from "./money.ts";
import { duration, short } from "./numbers.ts";

export type Unit = "money" | "time" | "count";

const DOLLAR = 1_000_000_000;

/** As few decimals as tell the labels of this step apart: `$0.50` and `$1.00`, `$5` and `$10`. */
function moneyTicks(values: readonly number[], step: number): string[] {
  const decimals = [0, 2, 3, 4, 5, 6, 9].find((count) => step % (DOLLAR / 10 ** count) === 0) ?? 9;
  return values.map((value) => usd(value, decimals));
}

function timeTicks(values: readonly number[], step: number): string[] {
  const most = values.at(-1) ?? 0;
  if (most < 1_000) return values.map(duration);
  const [size, unit] = most < 120_000 ? [1_000, "s"] : [60_000, "min"];
  const decimals = [0, 1, 2].find((count) => (step * 10 ** count) % size === 0) ?? 3;
  return values.map((value) => `${(value / size).toFixed(decimals)} ${unit}`);
}

/** Fractions of a count have no label. */
const countTicks = (values: readonly number[]): string[] =>
  values.map((value) => (Number.isInteger(value) ? short(value) : ""));

const TICKS = { money: moneyTicks, time: timeTicks, count: countTicks };

/** The labels of an axis: all with the same unit and the same number of decimals, and a plain zero. */
export const ticks = (unit: Unit, values: readonly number[], step: number): string[] =>
  TICKS[unit](values, step).map((label, at) => (values[at] === 0 ? "0" : label));
