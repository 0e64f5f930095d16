import type { KindOfCode } from "../media-failure.ts";

/** Code words of the images and videos addresses, Azure's among them. */
export const OPENAI_CODES: KindOfCode = {
  moderation_blocked: "content_blocked",
  content_policy_violation: "content_blocked",
  content_filter: "content_blocked",
  contentFilter: "content_blocked",
  sentinel_block: "content_blocked",
  insufficient_quota: "upstream_credentials",
  billing_hard_limit_reached: "upstream_credentials",
  billing_not_active: "upstream_credentials",
  invalid_api_key: "upstream_credentials",
  rate_limit_exceeded: "rate_limited",
};
