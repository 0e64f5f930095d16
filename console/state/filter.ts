/** What calls can be narrowed by. The same words in the search field, in the address and at the Admin API. */
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
  /** At least so many dollars. */
  cost?: string;
  /** At least so many milliseconds. */
  ms?: string;
  /** The beginning of an id, or a part of a name. */
  text?: string;
}

export const NAMES = ["model", "provider", "key", "project", "outcome", "dialect", "lane", "stream", "tag"] as const;
const COMPARED = ["cost", "ms"] as const;

const TOKEN = /(?:(\w+)(:|>=?))?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g;

/** `model:sim/fast cost>0.01 "two words"`: whatever is no `name:value` is looked for as text. */
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

/** The same filter as text: `readFilter` gives it back. */
export function writeFilter(filter: CallFilter): string {
  const named = NAMES.flatMap((name) => (filter[name] === undefined ? [] : [`${name}:${quote(filter[name])}`]));
  const compared = COMPARED.flatMap((name) => (filter[name] === undefined ? [] : [`${name}>${filter[name]}`]));
  return [...named, ...compared, ...(filter.text === undefined ? [] : [filter.text])].join(" ");
}

const quote = (value: string): string =>
  /^[^\s"\\]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`;

/** As `GET /api/receipts` takes it. */
export function receiptQuery({ cost, ms, ...rest }: CallFilter): Record<string, string | undefined> {
  return { ...rest, min_cost: cost, min_ms: ms };
}

const SUMMED = ["model", "provider", "key", "project", "outcome", "dialect", "tag"] as const;

/** The part of it that sums are kept by. */
export const usageQuery = (filter: CallFilter): Partial<Record<(typeof SUMMED)[number], string | undefined>> =>
  Object.fromEntries(SUMMED.map((name) => [name, filter[name]]));

/** The names of the rest of it, by which sums are not narrowed. */
export const unsummed = (filter: CallFilter): string[] =>
  Object.keys(filter).filter((name) => SUMMED.every((known) => known !== name));

/** What is said beside figures that some of the filter does not narrow; empty where all of it does. */
export const notNarrowedBy = (names: readonly string[]): string =>
  names.length === 0 ? "" : `not narrowed by ${names.join(", ")}`;
