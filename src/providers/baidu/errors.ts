import type { CodeTable } from "../media/code-table.ts";

/** The words that say more than their status; the others go by it. */
export const BAIDU_CODES: CodeTable = [
  [/^(content_filter|system_unsafe)$/, "content_blocked"],
  [/^(invalid_iam_token|invalid_appid|access_denied|insufficient_quota)$/, "upstream_credentials"],
  [/^([rt]pm_)?rate_limit_exceeded$/, "rate_limited"],
];
