import type { AnswerCache } from "../../answers/answer-cache.ts";
import { counter, type Family, family, gauge } from "../../telemetry/family.ts";

/** The cache of responses: what this process did with it, and its size across all instances as of the last sweep. */
export function answerCacheFamilies({ counts, total }: Pick<AnswerCache, "counts" | "total">): Family[] {
  return [
    family("counter", "trivium_cache_lookups_total", "Calls that looked for a cached response, by result.", [
      { labels: { result: "hit" }, value: counts.hits },
      { labels: { result: "miss" }, value: counts.misses },
    ]),
    family("counter", "trivium_cache_stores_total", "Responses that could be cached, by outcome.", [
      { labels: { outcome: "stored" }, value: counts.stored },
      { labels: { outcome: "dropped" }, value: counts.notStored },
    ]),
    counter("trivium_cache_evictions_total", "Cached responses that were deleted to make room.", counts.evicted),
    counter(
      "trivium_cache_failures_total",
      "Times that the storage of cached responses failed or was slow.",
      counts.failed,
    ),
    counter(
      "trivium_cache_saved_usd_total",
      "Cost that cached responses saved: what each cost when it was made.",
      counts.savedNanoUsd / 1e9,
    ),
    gauge("trivium_cache_entries", "Cached responses, across all instances.", total.entries),
    gauge("trivium_cache_bytes", "Size of cached responses, across all instances.", total.bytes),
  ];
}
