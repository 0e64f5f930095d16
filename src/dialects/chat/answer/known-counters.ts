import type { KnownCounters } from "../../answer/unknown-counters.ts";

/** Every number in `usage` that this dialect's reader counts, or that is known not to affect the bill. */
export const KNOWN_COUNTERS: KnownCounters = {
  counts: [
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "prompt_tokens_details.cached_tokens",
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.audio_tokens",
    "completion_tokens_details.reasoning_tokens",
    "completion_tokens_details.audio_tokens",
    "completion_tokens_details.image_tokens",
    // Additional counters of hosts of this protocol.
    "cached_tokens",
    "num_cached_tokens",
    "prompt_token_details.cached_tokens",
    "prompt_cache_hit_tokens",
    "prompt_cache_miss_tokens",
    "reasoning_tokens",
    "server_tool_use.web_search_requests",
    "server_tool_use_details.web_search_requests",
    // Uses of a tool, which have their own price.
    "num_sources_used",
    // Subsets of a counter above, at its price.
    "prompt_tokens_details.text_tokens",
    "prompt_tokens_details.image_tokens",
    "prompt_tokens_details.video_tokens",
    "completion_tokens_details.text_tokens",
    "completion_tokens_details.accepted_prediction_tokens",
    "completion_tokens_details.rejected_prediction_tokens",
    "audio_prompt_tokens",
  ],
  others: [
    // Costs and durations.
    "cost",
    "cost_details",
    // Sound in seconds, which is read, and may be a fraction.
    "prompt_audio_seconds",
    "cost_in_usd_ticks",
    "latency_checkpoint",
    "queue_time",
    "prompt_time",
    "completion_time",
    "total_time",
    // Rates and drafts of GPUStack (gpustack/llama-box, llama-box/utils.hpp, read 2026-11-19).
    "time_to_first_token_ms",
    "time_per_output_token_ms",
    "tokens_per_second",
    "draft_tokens",
    "draft_tokens_acceptance",
  ],
};
