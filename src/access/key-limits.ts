import { GatewayError } from "../canon/error.ts";
import { MAX_BUDGET_USD } from "../canon/key-bounds.ts";

/** What a key may use; what is left out is not limited. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** Calls under way at one time. */
  readonly concurrent?: number;
  readonly budgetUsdPerDay?: number;
  readonly budgetUsdPerMonth?: number;
  readonly budgetUsdTotal?: number;
}

export const LIMIT_NAMES = [
  "requestsPerMinute",
  "tokensPerMinute",
  "concurrent",
  "budgetUsdPerDay",
  "budgetUsdPerMonth",
  "budgetUsdTotal",
] as const satisfies readonly (keyof KeyLimits)[];

/** The limits as they were stored or configured, known names only, with figures that can be held to. */
export function readLimits(given: Readonly<Record<string, number | undefined>>): KeyLimits {
  const limits: Partial<Record<keyof KeyLimits, number>> = {};
  for (const name of Object.keys(given)) {
    if (!LIMIT_NAMES.some((known) => known === name)) {
      throw new GatewayError("invalid_request", `limits.${name} is not a limit; known are ${LIMIT_NAMES.join(", ")}.`, {
        path: `limits.${name}`,
      });
    }
  }
  for (const name of LIMIT_NAMES) {
    const value = given[name];
    if (value === undefined) continue;
    const isBudget = name.startsWith("budget");
    const fits = isBudget ? value >= 0 && value <= MAX_BUDGET_USD : Number.isInteger(value) && value >= 1;
    if (!fits) {
      const right = isBudget ? `an amount from 0 to ${MAX_BUDGET_USD} US dollars` : "a whole number of at least 1";
      throw new GatewayError("invalid_request", `limits.${name} must be ${right}.`, { path: `limits.${name}` });
    }
    limits[name] = value;
  }
  return limits;
}
