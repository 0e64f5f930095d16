/** Mistakes in a request. */
const CLIENTS_OWN: ReadonlySet<string> = new Set([
  "invalid_request",
  "unsupported_parameter",
  "unauthenticated",
  "budget_exhausted",
  "forbidden",
  "not_found",
  "too_large",
  "unsupported_media_type",
  "content_blocked",
]);

export type OutcomeClass = "ok" | "client_gone" | "refused" | "failed";

/** Who is responsible for the outcome of a call: `failed` is the operator's. */
export function outcomeClass(outcome: string): OutcomeClass {
  if (outcome === "ok" || outcome === "client_gone") return outcome;
  return CLIENTS_OWN.has(outcome) ? "refused" : "failed";
}
