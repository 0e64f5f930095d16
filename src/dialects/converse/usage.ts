import { arrayAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt, type Usage } from "../../canon/usage.ts";
import { type KnownCounters, unknownCounters } from "../answer/unknown-counters.ts";

/** `inputTokens` excludes tokens read from or written to a cache. `outputTokens` includes thinking, which is not counted separately. */
export function decodeUsage(holder: unknown): Usage | undefined {
  const raw = objectAt(holder, "usage");
  const input = countAt(raw, "inputTokens");
  const output = countAt(raw, "outputTokens");
  if (raw === undefined || (input === undefined && output === undefined)) return undefined;
  const cacheRead = countAt(raw, "cacheReadInputTokens");
  const written = countAt(raw, "cacheWriteInputTokens");
  const hour = writtenForAnHour(raw);
  const unknown = unknownCounters("usage", raw, KNOWN_COUNTERS);
  return {
    ...withoutAbsent({ input, cacheRead }),
    ...(written === undefined ? {} : { cacheWrite5m: Math.max(0, written - (hour ?? 0)) }),
    ...withoutAbsent({ cacheWrite1h: hour, output, unknown }),
  };
}

function writtenForAnHour(raw: unknown): number | undefined {
  const details = arrayAt(raw, "cacheDetails").filter((detail) => stringAt(detail, "ttl") === "1h");
  return details.length === 0
    ? undefined
    : details.reduce<number>((sum, detail) => sum + (countAt(detail, "inputTokens") ?? 0), 0);
}

/** Every number in `usage` that this dialect's reader counts, or that is known not to affect the bill. */
const KNOWN_COUNTERS: KnownCounters = {
  counts: [
    "inputTokens",
    "outputTokens",
    "totalTokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
    "cacheDetails.inputTokens",
    // The same two counts under their older names.
    "cacheReadInputTokenCount",
    "cacheWriteInputTokenCount",
  ],
};
