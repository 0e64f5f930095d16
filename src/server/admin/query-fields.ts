import { isEndUser, MAX_END_USER_LENGTH } from "../../access/parts/end-user-id.ts";
import { editsBetween } from "../../base/edit-distance.ts";
import type { TimeZone } from "../../base/time-zone.ts";
import { isDay, readTimestamp } from "../../base/timestamp.ts";
import { GatewayError } from "../../canon/error.ts";
import { MAX_TAG_LENGTH, TAG_PATTERN } from "../../canon/tags.ts";
import { wrongField } from "../wrong-field.ts";

/** A query parameter of the Admin API: how it is parsed, and how the OpenAPI document describes it. */
export interface QueryField<Value> {
  read(text: string, name: string): Value;
  schema: object;
  about: string;
}

export type QueryFields = Readonly<Record<string, QueryField<unknown>>>;

/** Absent parameters are undefined. */
export type QueryValues<Fields extends QueryFields> = {
  [Name in keyof Fields]: Fields[Name] extends QueryField<infer Value> ? Value | undefined : never;
};

const MAX_TEXT_LENGTH = 256;
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
/** Times up to this year can be formatted and stored. */
const LAST_YEAR = 9999;

/** Parses the query; throws on unknown or invalid parameters (H25). `ignoreUnknown` is only for probes. */
export function readQuery<Fields extends QueryFields>(
  query: URLSearchParams,
  fields: Fields,
  { ignoreUnknown = false } = {},
): QueryValues<Fields> {
  const values: Record<string, unknown> = {};
  for (const name of query.keys()) {
    if (!Object.hasOwn(fields, name)) {
      if (ignoreUnknown) continue;
      throw unknownName(name, Object.keys(fields));
    }
    if (query.getAll(name).length > 1) throw wrongField(name, "is given more than once");
  }
  for (const [name, field] of Object.entries(fields)) {
    const text = query.get(name);
    values[name] = text === null ? undefined : field.read(text, name);
  }
  return values as QueryValues<Fields>;
}

function unknownName(name: string, known: readonly string[]): GatewayError {
  const shown = JSON.stringify(name.slice(0, 80));
  const near = nearest(name, known);
  const meant = near === undefined ? "" : `did you mean ${near}? `;
  const some = known.length === 0 ? "this endpoint takes none" : `${meant}expected one of ${known.join(", ")}`;
  return new GatewayError("invalid_request", `${shown} is not a query parameter here; ${some}.`, {
    path: name.slice(0, 80),
  });
}

const MAX_EDITS = 2;

/** The known name that was probably meant. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const word = name.slice(0, 80).toLowerCase().replaceAll("-", "_");
  const near = known
    .map((one) => ({ one, edits: one.startsWith(word) && word.length > 2 ? 0 : editsBetween(word, one, MAX_EDITS) }))
    .filter(({ one, edits }) => edits <= Math.min(MAX_EDITS, Math.floor(one.length / 2)));
  return near.toSorted((a, b) => a.edits - b.edits)[0]?.one;
}

/** A name or an id: bounded, and without characters that a storage cannot hold. */
export function checkText(text: string, name: string): string {
  if (text === "" || text.length > MAX_TEXT_LENGTH)
    throw wrongField(name, `must have 1 to ${MAX_TEXT_LENGTH} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f\ufffd]/.test(text) || !text.isWellFormed()) {
    throw wrongField(name, "must be text in UTF-8 without control characters");
  }
  return text;
}

export const textField = (about: string): QueryField<string> => ({
  read: checkText,
  schema: { type: "string", minLength: 1, maxLength: MAX_TEXT_LENGTH },
  about,
});

export const tagField = (about: string): QueryField<string> => ({
  read: (text, name) => {
    if (new RegExp(TAG_PATTERN).test(text)) return text;
    throw wrongField(name, `must be one tag of 1 to ${MAX_TAG_LENGTH} letters, digits and _ . : = / -, such as team-a`);
  },
  schema: { type: "string", pattern: TAG_PATTERN },
  about,
});

export const endUserField = (about: string): QueryField<string> => ({
  read: (text, name) => {
    if (isEndUser(checkText(text, name))) return text;
    throw wrongField(name, `must be the id of an end user: 1 to ${MAX_END_USER_LENGTH} characters`);
  },
  schema: { type: "string", maxLength: MAX_END_USER_LENGTH },
  about,
});

export function wholeField(about: string, minimum: number, maximum: number): QueryField<number> {
  return {
    read: (text, name) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= minimum && value <= maximum) return value;
      throw wrongField(name, `must be a whole number from ${minimum} to ${maximum}`);
    },
    schema: { type: "integer", minimum, maximum },
    about,
  };
}

export function oneOfField<const Word extends string>(about: string, words: readonly Word[]): QueryField<Word> {
  return {
    read: (text, name) => {
      const found = words.find((word) => word === text);
      if (found !== undefined) return found;
      throw wrongField(name, `must be one of ${words.join(", ")}`);
    },
    schema: { type: "string", enum: words },
    about,
  };
}

/** A time in milliseconds. */
export const momentField = (about: string): QueryField<number> => ({
  read: readMoment,
  schema: { type: "string" },
  about,
});

/** The same, but a date means the start of that day in the query's time zone. */
export const zonedMomentField = (about: string): QueryField<(zone: TimeZone) => number> => ({
  read: (text, name) => {
    const ms = readMoment(text, name);
    return (zone) => (isDay(text) ? zone.startOf(text) : ms);
  },
  schema: { type: "string" },
  about,
});

function readMoment(text: string, name: string): number {
  const ms = text.length <= 40 && /^\d{4}-/.test(text) ? readTimestamp(text) : undefined;
  if (ms !== undefined && ms >= 0 && new Date(ms).getUTCFullYear() <= LAST_YEAR) return ms;
  throw wrongField(name, "must be a date such as 2026-11-16 or a time such as 2026-11-16T08:00:00Z");
}

const NANO_PER_USD = 1_000_000_000;

/** Dollars, as nano-dollars. */
export const moneyField = (about: string): QueryField<number> => ({
  read: (text, name) => {
    const [, whole = "", fraction = ""] = /^(\d{1,6})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
    if (whole !== "") return Number(whole) * NANO_PER_USD + Number(fraction.padEnd(9, "0"));
    throw wrongField(name, "must be an amount in USD from 0 to 999999.999999999, such as 0.05");
  },
  schema: { type: "number", minimum: 0 },
  about,
});

/** The parameters of every list. */
export const PAGE_FIELDS = {
  limit: wholeField(`Maximum number of items. Default: ${DEFAULT_LIMIT}.`, 1, MAX_LIMIT),
  after: textField("The `next` value of the previous page."),
};

export const limitOf = ({ limit }: { limit: number | undefined }): number => limit ?? DEFAULT_LIMIT;

/** A page of a list in memory, newest first; `after` is the last id of the previous page. */
export function pageOf<Item>(
  items: readonly Item[],
  { limit, after }: { limit: number | undefined; after: string | undefined },
  idOf: (item: Item) => string,
): { data: Item[]; next: string | null } {
  const start = after === undefined ? 0 : items.findIndex((item) => idOf(item) === after) + 1;
  if (after !== undefined && start === 0) throw wrongField("after", "is not the id of an item of this list");
  const data = items.slice(start, start + limitOf({ limit }));
  const last = data.at(-1);
  return { data, next: last !== undefined && start + data.length < items.length ? idOf(last) : null };
}
