import type { JsonObject } from "../../base/json.ts";

/**
 * By these some hosts of open models are given another output limit than the protocol's own, or asked for several answers of which one
 * is sent. Reservations and the bounds of a usage go by the protocol's own limit (decision 0085).
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

/** Those of them that a request has. `own`: the limit of its protocol. */
export const otherLimits = (body: JsonObject, own: string): readonly string[] =>
  OTHER_LIMITS.filter((name) => name !== own && name in body);

/** Why they are not sent. */
export const oneLimit = (own: string): string => `only ${own} limits an answer`;
