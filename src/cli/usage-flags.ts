import { TimeZone } from "../base/time-zone.ts";
import { PROTOCOL_NAMES } from "../canon/dialect-name.ts";
import { lastDays } from "../ledger/queries.ts";
import { UsageError } from "./command.ts";

/** Which receipts are meant; the same for reports and exports. */
export const RANGE_FLAGS = {
  days: { type: "string", value: "N", about: "number of days to look back, unless --from is set (default: 30)" },
  from: { type: "string", value: "TIME", about: "start of the range: 2026-01-31 or 2026-01-31T12:00Z" },
  to: { type: "string", value: "TIME", about: "end of the range (exclusive)" },
  zone: { type: "string", default: "UTC", value: "ZONE", about: "time zone for days, such as Europe/Berlin" },
  project: { type: "string", value: "P", about: "only this project" },
  key: { type: "string", value: "ID", about: "only this key" },
  model: { type: "string", value: "M", about: "only this model" },
  provider: { type: "string", value: "NAME", about: "only this provider" },
  dialect: { type: "string", value: "NAME", about: `only this client protocol: ${PROTOCOL_NAMES.join(", ")}` },
  outcome: {
    type: "string",
    value: "WORD",
    about: "only this outcome: ok, client_gone, an error kind, or failed for all errors",
  },
  tag: { type: "string", value: "TAG", about: "only calls with this tag" },
} as const;

type Given = { readonly [flag in keyof typeof RANGE_FLAGS]?: string | undefined };

export function readZone({ zone = "UTC" }: Given): TimeZone {
  try {
    return TimeZone.named(zone);
  } catch (cause) {
    throw new UsageError(`--zone: "${zone}" is not a known time zone. Use a name such as Europe/Berlin.`, { cause });
  }
}

export function readRange(given: Given, zone: TimeZone, nowMs: number): { sinceMs: number; untilMs: number } {
  const days = Number(given.days ?? 30);
  if (!(days > 0 && days <= 36_500))
    throw new UsageError(`--days: "${given.days}" must be a number greater than 0 and at most 36500.`);
  if (given.from !== undefined && given.days !== undefined)
    throw new UsageError("--from and --days cannot be combined.");
  const untilMs = given.to === undefined ? lastDays(days, nowMs).untilMs : momentOf("to", given.to, zone);
  const sinceMs =
    given.from === undefined
      ? lastDays(days, given.to === undefined ? nowMs : untilMs).sinceMs
      : momentOf("from", given.from, zone);
  if (sinceMs >= untilMs) throw new UsageError("--from must be before --to.");
  return { sinceMs, untilMs };
}

/** A date is the beginning of that day in the zone. */
function momentOf(flag: string, words: string, zone: TimeZone): number {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(words);
  const ms = Date.parse(isDate ? `${words}T00:00Z` : words);
  if (Number.isNaN(ms))
    throw new UsageError(`--${flag}: "${words}" is not a valid time. Use 2026-01-31 or 2026-01-31T12:00Z.`);
  return isDate ? zone.startOf(words) : ms;
}

/** Those that were given, under the names that the ledger has for them. */
export function readFilter<Name extends string>(given: Given, keyName: Name) {
  const { project, key, model, provider, dialect, outcome, tag } = given;
  if (dialect !== undefined && !PROTOCOL_NAMES.some((name) => name === dialect))
    throw new UsageError(`--dialect: "${dialect}" is not one of ${PROTOCOL_NAMES.join(", ")}.`);
  const all = { project, [keyName]: key, model, provider, dialect, outcome, tag };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Partial<
    Record<"project" | "model" | "provider" | "dialect" | "outcome" | "tag" | Name, string>
  >;
}
