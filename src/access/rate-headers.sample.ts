import type { Admission } from "./admit.ts";

/** What an answer says of its limits. */
export function rateHeadersOf(admission: Pick<Admission, "addRateHeaders">): Record<string, string> {
  const headers: Record<string, string> = {};
  admission.addRateHeaders(headers);
  return headers;
}
