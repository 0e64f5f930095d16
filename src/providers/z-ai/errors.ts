import type { KindOfCode } from "../media-failure.ts";

/** The host's numbers, which it sends as strings. */
export const Z_AI_CODES: KindOfCode = {
  "1000": "upstream_credentials",
  "1001": "upstream_credentials",
  "1002": "upstream_credentials",
  "1003": "upstream_credentials",
  "1004": "upstream_credentials",
  "1113": "upstream_credentials",
  "1301": "content_blocked",
  "1302": "rate_limited",
  "1303": "rate_limited",
  "1305": "rate_limited",
};
