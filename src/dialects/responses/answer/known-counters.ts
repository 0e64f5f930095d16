import type { KnownCounters } from "../../answer/unknown-counters.ts";

/** Every number in `usage` that this dialect's reader counts, or that is known not to affect the bill. */
export const KNOWN_COUNTERS: KnownCounters = {
  counts: [
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_tokens_details.cached_tokens",
    "input_tokens_details.cache_write_tokens",
    "output_tokens_details.reasoning_tokens",
    // Subsets of a counter above, at its price.
    "input_tokens_details.text_tokens",
    "input_tokens_details.image_tokens",
    "input_tokens_details.cache_write_tokens_details.ttl_30m_tokens",
    "input_tokens_details.cache_write_tokens_details.ttl_12h_tokens",
    "output_tokens_details.text_tokens",
    "output_tokens_details.image_tokens",
    "num_server_side_tools_used",
    "num_sources_used",
  ],
  others: [
    // The context of the provider's last internal pass, which the counters above include.
    "context_details",
    // Uses of tools, which have their own prices.
    "server_side_tool_usage_details",
    // Costs.
    "cost",
    "cost_details",
    "cost_in_usd_ticks",
    "pydantic_ai_gateway",
  ],
};
