import { MAX_BUDGET_USD } from "../base/key-bounds.ts";
import { GatewayError } from "../canon/error.ts";

/** Limits of a key, a project or the whole gateway; absent ones do not limit. */
export interface Limits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** Calls and tokens of the UTC day, as the ledger counts them. */
  readonly requestsPerDay?: number;
  readonly tokensPerDay?: number;
  /** Concurrent calls. */
  readonly concurrent?: number;
  /** Open live connections. */
  readonly sessions?: number;
  readonly budgetUsdPerDay?: number;
  /** From Monday on, in UTC. */
  readonly budgetUsdPerWeek?: number;
  readonly budgetUsdPerMonth?: number;
  readonly budgetUsdPerQuarter?: number;
  readonly budgetUsdTotal?: number;
}

export const LIMIT_NAMES = [
  "requestsPerMinute",
  "tokensPerMinute",
  "requestsPerDay",
  "tokensPerDay",
  "concurrent",
  "sessions",
  "budgetUsdPerDay",
  "budgetUsdPerWeek",
  "budgetUsdPerMonth",
  "budgetUsdPerQuarter",
  "budgetUsdTotal",
] as const satisfies readonly (keyof Limits)[];

export type LimitName = (typeof LIMIT_NAMES)[number];

/** The spelling in files, the API and the command line: `requests_per_minute`. */
export const wireName = (name: LimitName): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The names of limits in that spelling. */
export const LIMIT_WIRE_NAMES: readonly string[] = LIMIT_NAMES.map(wireName);

/** Under both spellings: stored rows have the program's. */
const KNOWN: ReadonlyMap<string, LimitName> = new Map(
  LIMIT_NAMES.flatMap((name) => [
    [name, name],
    [wireName(name), name],
  ]),
);

/**
 * Reads limits from storage or input; throws on unknown names and values that cannot be enforced. `path` is their place
 * in errors.
 */
export function readLimits(given: Readonly<Record<string, number | undefined>>, path = "limits"): Limits {
  const refuse = (name: string, why: string): never => {
    throw new GatewayError("invalid_request", `${path}.${name} ${why}.`, { path: `${path}.${name}` });
  };
  const limits: Partial<Record<LimitName, number>> = {};
  for (const [written, value] of Object.entries(given)) {
    const name = KNOWN.get(written);
    if (name === undefined) {
      return refuse(written.slice(0, 100), `is not a limit; expected one of ${LIMIT_WIRE_NAMES.join(", ")}`);
    }
    if (value === undefined) continue;
    if (limits[name] !== undefined) refuse(wireName(name), "is set twice");
    const isBudget = name.startsWith("budget");
    const fits = isBudget ? value >= 0 && value <= MAX_BUDGET_USD : Number.isSafeInteger(value) && value >= 1;
    if (!fits) {
      const right = isBudget
        ? `an amount from 0 to ${MAX_BUDGET_USD} US dollars`
        : `a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`;
      refuse(wireName(name), `must be ${right}`);
    }
    limits[name] = value;
  }
  return limits;
}

/** The limits as files and the API spell them. */
export function limitsView(limits: Readonly<Record<string, number | undefined>>): Record<string, number> {
  const known = readLimits(limits);
  return Object.fromEntries(
    LIMIT_NAMES.flatMap((name) => {
      const value = known[name];
      return value === undefined ? [] : [[wireName(name), value] as const];
    }),
  );
}

/** Limits that are not named stay; `null` removes one. */
export function changeLimits(
  stored: Readonly<Record<string, number>>,
  update: Readonly<Record<string, number | null>>,
  path = "limits",
): Record<string, number> {
  const removed = Object.keys(update).filter((name) => update[name] === null);
  const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null)) as Record<
    string,
    number
  >;
  // Both are read separately first, so that an unknown name is reported whether it is added or removed.
  readLimits(Object.fromEntries(removed.map((name) => [name, undefined])), path);
  const limits = { ...limitsView(stored), ...limitsView({ ...readLimits(given, path) }) };
  for (const name of removed) delete limits[name];
  return { ...readLimits(limits, path) };
}
