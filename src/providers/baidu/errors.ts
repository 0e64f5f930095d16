import type { KindOfCode } from "../media-failure.ts";

/** The words that say more than their status; the others go by it. */
export const BAIDU_CODES: KindOfCode = {
  invalid_iam_token: "upstream_credentials",
  invalid_appid: "upstream_credentials",
  access_denied: "upstream_credentials",
  insufficient_quota: "upstream_credentials",
  rate_limit_exceeded: "rate_limited",
  rpm_rate_limit_exceeded: "rate_limited",
  tpm_rate_limit_exceeded: "rate_limited",
  content_filter: "content_blocked",
  system_unsafe: "content_blocked",
};
