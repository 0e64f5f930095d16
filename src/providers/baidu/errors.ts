import type { CodeTable } from "../media-adapters/code-table.ts";

/** Codes that say more than the status; for all others the status decides. */
export const BAIDU_CODES: CodeTable = [
  [/^(content_filter|system_unsafe)$/, "content_blocked"],
  [/^(invalid_iam_token|invalid_appid|access_denied|insufficient_quota)$/, "upstream_credentials"],
  [/^([rt]pm_)?rate_limit_exceeded$/, "rate_limited"],
];
