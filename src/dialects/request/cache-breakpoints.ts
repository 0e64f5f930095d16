// https://developers.openai.com/api/docs/guides/prompt-caching

import { isObject, type JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { CallSettings, Extra } from "../../canon/call.ts";
import { Fields } from "../../canon/fields.ts";
import type { CacheMark } from "../../canon/part.ts";

/** Two dialects of one family write cache marks the same way: on a part, and for the whole request. */
const BREAKPOINT = "prompt_cache_breakpoint";
const OPTIONS = "prompt_cache_options";

/** The shortest age of this family, which is the default of a mark. */
const SHORTEST = "30m";
const AGES = [SHORTEST, "12h"] as const;

/**
 * Reads a mark from the fields of a part. A mark with unknown members stays among the fields, for hosts of these dialects only.
 */
export function takeBreakpoint(fields: Fields): { cache?: CacheMark } {
  const mark = fields.peek(BREAKPOINT);
  if (!isObject(mark)) return {};
  const { mode = "explicit", ttl, ...more } = mark;
  const age = AGES.find((one) => one === ttl);
  if (mode !== "explicit" || (ttl !== undefined && age === undefined) || Object.keys(more).length > 0) return {};
  fields.skip(BREAKPOINT);
  return { cache: withoutAbsent({ field: BREAKPOINT, ttl: age }) };
}

interface DecodedOptions {
  settings: Pick<CallSettings, "cache">;
  paths: { cache?: string };
  /** Members that only these dialects have. */
  extras: readonly Extra[];
}

export function takeCacheOptions(body: Fields): DecodedOptions {
  const given = body.object(OPTIONS);
  if (given === undefined) return { settings: {}, paths: {}, extras: [] };
  const { mode, ttl } = given;
  const fields = new Fields(given);
  const age = AGES.find((one) => one === ttl);
  if (age !== undefined) fields.skip("ttl");
  if (mode === "implicit" || mode === "explicit") fields.skip("mode");
  const extras = Object.entries(fields.rest() ?? {}).map(([key, value]) => ({ keys: [OPTIONS, key], value }));
  const cache = withoutAbsent({ ttl: age, ...(mode === "explicit" ? { explicit: true as const } : {}) });
  return { settings: { cache }, paths: { cache: OPTIONS }, extras };
}

/** Reports an age that this family lacks. */
type Approximate = (reason: string) => void;

/**
 * A mark requests a minimum age. Five minutes are below the shortest age; for an hour the shortest is used too, because the price
 * of the longest is unknown.
 */
function encodeAge({ ttl }: Pick<CacheMark, "ttl">, ages: readonly string[], approximate: Approximate): JsonObject {
  if (ttl === undefined || ttl === "5m") return {};
  if (ages.includes(ttl)) return { ttl };
  approximate(`this provider caches for at least ${SHORTEST}; that was sent`);
  return { ttl: SHORTEST };
}

export const encodeBreakpoint = (mark: CacheMark, approximate: Approximate): JsonObject => ({
  [BREAKPOINT]: { mode: "explicit", ...encodeAge(mark, AGES, approximate) },
});

/** `ages`: the ages that the target accepts for a whole request. */
export function encodeCacheOptions(
  cache: NonNullable<CallSettings["cache"]>,
  ages: readonly string[],
  approximate: Approximate,
): JsonObject {
  const mode = cache.explicit ? "explicit" : "implicit";
  return { [OPTIONS]: { mode, ...encodeAge(cache, ages, approximate) } };
}

/** The ages for a whole request's cache in each of the two dialects. */
export const CHAT_AGES: readonly string[] = [SHORTEST];
export const RESPONSES_AGES: readonly string[] = AGES;
