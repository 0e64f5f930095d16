import type { JsonObject } from "../../base/json.ts";

/**
 * Fields with which some hosts of open models accept an output limit other than the protocol's, or make several responses of
 * which one is sent. Reservations and usage limits rely on the protocol's own limit (decision 0085).
 */
const OTHER_LIMITS = [
  "n_predict",
  "num_predict",
  "max_new_tokens",
  "max_output_tokens",
  "max_length",
  "best_of",
  "num_return_sequences",
] as const;

/** The ones that a request has. `own`: the protocol's limit. */
export const otherLimits = (body: JsonObject, own: string): readonly string[] =>
  OTHER_LIMITS.filter((name) => name !== own && name in body);

/** Why they are not sent. */
export const oneLimit = (own: string): string => `${own} is the only output limit`;
