import type { Admission } from "./admit.ts";

/** The rate-limit headers of a response. */
export function rateHeadersOf(admission: Pick<Admission, "addRateHeaders">): Record<string, string> {
  const headers: Record<string, string> = {};
  admission.addRateHeaders(headers);
  return headers;
}
