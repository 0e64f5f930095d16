import type { CodeTable } from "../media-adapters/code-table.ts";

/** The host's numeric codes, which it sends as strings. */
export const Z_AI_CODES: CodeTable = [
  [/^1301$/, "content_blocked"],
  [/^(100[0-4]|1113)$/, "upstream_credentials"],
  [/^(1302|1303|1305)$/, "rate_limited"],
];
