import type { CodeTable } from "../media-adapters/code-table.ts";

/** Error codes of the images and videos endpoints, including Azure's. */
export const OPENAI_CODES: CodeTable = [
  [/^(moderation_blocked|content_policy_violation|content_filter|contentFilter|sentinel_block)$/, "content_blocked"],
  [/^(insufficient_quota|billing_hard_limit_reached|billing_not_active|invalid_api_key)$/, "upstream_credentials"],
  [/^rate_limit_exceeded$/, "rate_limited"],
];
