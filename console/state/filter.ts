/** The fields that calls can be filtered by. The names are the same in the search field, the address and the Admin API. */
export interface CallFilter {
  model?: string;
  provider?: string;
  key?: string;
  project?: string;
  outcome?: string;
  dialect?: string;
  lane?: string;
  stream?: string;
  tag?: string;
  /** The ID of a batch, in any form. */
  batch?: string;
  /** The name that a client gave to whom its program serves. */
  end_user?: string;
  /** Minimum cost in dollars. */
  cost?: string;
  /** Minimum duration in milliseconds. */
  ms?: string;
  /** The start of an ID, or a part of a name. */
  text?: string;
}

export const NAMES = [
  "model",
  "provider",
  "key",
  "project",
  "outcome",
  "dialect",
  "lane",
  "stream",
  "tag",
  "batch",
  "end_user",
] as const;
const COMPARED = ["cost", "ms"] as const;

const TOKEN = /(?:(\w+)(:|>=?))?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g;

/** `model:sim/fast cost>0.01 "two words"`: anything that is not `name:value` is matched as text. */
export function readFilter(written: string): CallFilter {
  const filter: CallFilter = {};
  const rest: string[] = [];
  for (const [whole, name = "", sign = "", quoted, plain = ""] of written.matchAll(TOKEN)) {
    const value = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, "$1");
    const named = NAMES.find((known) => known === name.toLowerCase());
    const compared = COMPARED.find((known) => known === name.toLowerCase());
    if (named !== undefined && sign === ":") filter[named] = value;
    else if (compared !== undefined && sign.startsWith(">") && /^\d+(\.\d+)?$/.test(value)) filter[compared] = value;
    else rest.push(quoted === undefined || name !== "" ? whole : value);
  }
  if (rest.length > 0) filter.text = rest.join(" ");
  return filter;
}

/** Writes a filter as text that `readFilter` can read. */
export function writeFilter(filter: CallFilter): string {
  const named = NAMES.flatMap((name) => (filter[name] === undefined ? [] : [`${name}:${quote(filter[name])}`]));
  const compared = COMPARED.flatMap((name) => (filter[name] === undefined ? [] : [`${name}>${filter[name]}`]));
  return [...named, ...compared, ...(filter.text === undefined ? [] : [filter.text])].join(" ");
}

const quote = (value: string): string =>
  /^[^\s"\\]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`;

/** The filter as parameters of `GET /api/receipts`. */
export function receiptQuery({ cost, ms, ...rest }: CallFilter): Record<string, string | undefined> {
  return { ...rest, min_cost: cost, min_ms: ms };
}

const SUMMED = ["model", "provider", "key", "project", "outcome", "dialect", "tag", "end_user"] as const;

/** The part of the filter that totals support. */
export const usageQuery = (filter: CallFilter): Partial<Record<(typeof SUMMED)[number], string | undefined>> =>
  Object.fromEntries(SUMMED.map((name) => [name, filter[name]]));

/** The names of the fields that totals do not support. */
export const unsummed = (filter: CallFilter): string[] =>
  Object.keys(filter).filter((name) => SUMMED.every((known) => known !== name));

/** A note for figures that ignore a part of the filter; empty if they apply all of it. */
export const notNarrowedBy = (names: readonly string[]): string =>
  names.length === 0 ? "" : `not filtered by ${names.join(", ")}`;
