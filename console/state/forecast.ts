import type { ListedKey } from "../api/types.ts";
import type { Budget } from "./budgets.ts";

export interface Forecast {
  nano_usd: number | null;
  exceeds_at: string | null;
  ends_at: string | null;
}

/** What the Admin API says of the end of a budget's window. */
export function forecastOf(budgets: ListedKey["budgets"] | undefined, { window }: Budget): Forecast | undefined {
  const found = budgets?.find((one) => one.window === window);
  return found && { nano_usd: found.forecast_nano_usd, exceeds_at: found.exceeds_at, ends_at: found.ends_at };
}
