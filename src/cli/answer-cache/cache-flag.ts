import { type AnswerCacheSettings, readAnswerCache } from "../../canon/settings/answer-cache-settings.ts";
import { UsageError } from "../command.ts";

/** Of the commands that create or change keys and projects. */
export const CACHE_FLAG = {
  type: "string",
  value: "SETTINGS",
  about: "answer equal requests with stored responses, such as ttl_seconds=3600,max_mb=100",
} as const;

export function readCacheFlag(text: string): AnswerCacheSettings | undefined {
  const given: Record<string, number> = {};
  for (const part of text.split(",")) {
    const [name = "", value = ""] = part.split("=").map((word) => word.trim());
    if (name === "" || !/^\d+$/.test(value))
      throw new UsageError(`--cache: "${part}" is not a setting. Pass ttl_seconds=SECONDS,max_mb=MB.`);
    given[name] = Number(value);
  }
  return readAnswerCache(given);
}

/** The same; `none` removes the setting. */
export const readCacheChange = (text: string): AnswerCacheSettings | null | undefined =>
  text === "none" ? null : readCacheFlag(text);
