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
  /** The live connection that calls were turns of. */
  session?: string;
  /** The name of a guard that found something. */
  guard?: string;
  /** `true` if a stored response has answered. */
  cached?: string;
  /** Text in the captured bodies. */
  body?: string;
  /** Minimum cost in dollars. */
  cost?: string;
  /** Minimum duration in milliseconds. */
  ms?: string;
  /** The start of an ID, or a part of a name. */
  text?: string;
  /** Words in the form of a filter that name no known one. They are ignored. */
  unknown?: string;
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
  "session",
  "guard",
  "cached",
  "body",
] as const;
const COMPARED = ["cost", "ms"] as const;

const TOKEN = /(?:(\w+)(:|>=?))?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g;

/** IDs are found by their beginnings, whatever they are IDs of. */
const IDS = ["id", "call", "receipt", "request", "trace"];
/** Names have no digits, so that `qwen3:8b` is text. */
const NAME = /^[a-z_]+$/i;

/** `model:sim/fast cost>0.01 "two words"`: anything else is matched as text, unless it looks like a filter. */
export function readFilter(written: string): CallFilter {
  const filter: CallFilter = {};
  const rest: string[] = [];
  const unknown: string[] = [];
  for (const [whole, name = "", sign = "", quoted, plain = ""] of written.matchAll(TOKEN)) {
    const value = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, "$1");
    const named = NAMES.find((known) => known === name.toLowerCase());
    const compared = COMPARED.find((known) => known === name.toLowerCase());
    if (named !== undefined && sign === ":") filter[named] = value;
    else if (IDS.includes(name.toLowerCase()) && sign === ":") rest.push(value);
    else if (compared !== undefined && sign.startsWith(">") && /^\d+(\.\d+)?$/.test(value)) filter[compared] = value;
    else if (NAME.test(name) && !value.startsWith("//")) unknown.push(whole);
    else rest.push(quoted === undefined || name !== "" ? whole : value);
  }
  if (rest.length > 0) filter.text = rest.join(" ");
  if (unknown.length > 0) filter.unknown = unknown.join(" ");
  return filter;
}

/** Writes a filter as text that `readFilter` can read. */
export function writeFilter(filter: CallFilter): string {
  const { text, unknown } = filter;
  const named = NAMES.flatMap((name) => (filter[name] === undefined ? [] : [`${name}:${quote(filter[name])}`]));
  const compared = COMPARED.flatMap((name) => (filter[name] === undefined ? [] : [`${name}>${filter[name]}`]));
  return [
    ...named,
    ...compared,
    ...(text === undefined ? [] : [isText(text) ? text : quote(text, true)]),
    ...(unknown === undefined ? [] : [unknown]),
  ].join(" ");
}

const isText = (text: string): boolean => {
  const read = readFilter(text);
  return read.text === text && Object.keys(read).length === 1;
};

const quote = (value: string, always = false): string =>
  !always && /^[^\s"\\]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`;

/** Other words for what calls can be filtered by. */
const SYNONYMS: Readonly<Record<string, string>> = {
  user: "end_user",
  customer: "end_user",
  status: "outcome",
  error: "outcome",
  result: "outcome",
  host: "provider",
  vendor: "provider",
  team: "project",
  protocol: "dialect",
  api: "dialect",
  streamed: "stream",
  label: "tag",
  price: "cost",
  usd: "cost",
  time: "ms",
  duration: "ms",
  latency: "ms",
  cache: "cached",
  contains: "body",
  prompt: "body",
};

export interface UnknownWord {
  /** As it was written. */
  word: string;
  /** What was probably meant. */
  nearest: string | undefined;
}

/** The unknown filter words, each with the nearest known one. */
export function unknownWords({ unknown = "" }: CallFilter): UnknownWord[] {
  return [...unknown.matchAll(TOKEN)].map(([word, name = "", sign = ":"]) => {
    const value = word.slice(name.length + sign.length);
    const known = SYNONYMS[name.toLowerCase()] ?? nearestName(name.toLowerCase());
    return { word, nearest: known === undefined ? undefined : asFilter(known, value) };
  });
}

/** Undefined if the value does not fit. */
function asFilter(name: string, value: string): string | undefined {
  const isCompared = COMPARED.some((compared) => compared === name);
  if (isCompared && !/^\d+(\.\d+)?$/.test(value)) return undefined;
  return isCompared ? `${name}>${value}` : `${name}:${value}`;
}

function nearestName(name: string): string | undefined {
  const near = [...NAMES, ...COMPARED]
    .map((known) => ({ known, distance: distanceOf(name, known) }))
    .sort((one, other) => one.distance - other.distance)[0];
  return near !== undefined && near.distance <= Math.max(1, Math.floor(name.length / 3)) ? near.known : undefined;
}

/** How many letters are missing, too many, wrong, or swapped with the next. */
function distanceOf(one: string, two: string): number {
  const rows = [[...Array(two.length + 1).keys()]];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= two.length; j++) {
      const isSame = one[i - 1] === two[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1];
      row.push(
        Math.min(
          (rows[i - 1]?.[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (rows[i - 1]?.[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (rows[i - 2]?.[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(row);
  }
  return rows.at(-1)?.at(-1) ?? 0;
}

/** The filter as text, with one of its unknown words replaced, or left out. */
export const replaceWord = ({ unknown = "", ...filter }: CallFilter, word: string, by: string): string =>
  writeFilter(readFilter(`${writeFilter(filter)} ${unknown.replace(word, () => by)}`));

/** The filter as parameters of `GET /api/receipts`. */
export function receiptQuery({ cost, ms, unknown: _unknown, ...rest }: CallFilter): Record<string, string | undefined> {
  return { ...rest, min_cost: cost, min_ms: ms };
}

const SUMMED = ["model", "provider", "key", "project", "outcome", "dialect", "tag", "end_user"] as const;

/** The part of the filter that totals support. */
export const usageQuery = (filter: CallFilter): Partial<Record<(typeof SUMMED)[number], string | undefined>> =>
  Object.fromEntries(SUMMED.map((name) => [name, filter[name]]));

/** The names of the fields that totals do not support. */
export const unsummed = (filter: CallFilter): string[] =>
  Object.keys(filter).filter((name) => name !== "unknown" && SUMMED.every((known) => known !== name));

/** A note for figures that ignore a part of the filter; empty if they apply all of it. */
export const notNarrowedBy = (names: readonly string[]): string =>
  names.length === 0 ? "" : `not filtered by ${names.join(", ")}`;
