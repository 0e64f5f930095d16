import { GatewayError } from "../error.ts";

/** Whether responses of a key or a project are kept, to answer equal requests with them. */
export interface AnswerCacheSettings {
  /** How long a response is used. */
  readonly ttlSeconds: number;
  /** The maximum size of all cached responses of the project. */
  readonly maxMb: number;
}

/** In files, the API and the storage. */
export interface AnswerCacheView {
  ttl_seconds: number;
  max_mb: number;
}

export const MAX_TTL_SECONDS = 30 * 86_400;
/** The sizes of a project's responses are added up in one row, and a larger share has no use. */
export const MAX_CACHE_MB = 100_000;

/** Throws if the settings are incomplete or out of range. */
export function readAnswerCache(given: Readonly<Record<string, unknown>> | undefined): AnswerCacheSettings | undefined {
  if (given === undefined) return undefined;
  const other = Object.keys(given).find((name) => name !== "ttl_seconds" && name !== "max_mb");
  if (other !== undefined) refuse(other.slice(0, 100), "is not a field of `cache`; use ttl_seconds and max_mb");
  return {
    ttlSeconds: wholeNumber(given, "ttl_seconds", MAX_TTL_SECONDS),
    maxMb: wholeNumber(given, "max_mb", MAX_CACHE_MB),
  };
}

export const answerCacheView = (settings: AnswerCacheSettings | undefined): AnswerCacheView | null =>
  settings === undefined ? null : { ttl_seconds: settings.ttlSeconds, max_mb: settings.maxMb };

function wholeNumber(given: Readonly<Record<string, unknown>>, name: string, most: number): number {
  const value = given[name];
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) return value;
  return refuse(name, `must be an integer from 1 to ${most}`);
}

function refuse(name: string, why: string): never {
  const path = `cache.${name}`;
  throw new GatewayError("invalid_request", `\`${path}\` ${why}.`, { path });
}
