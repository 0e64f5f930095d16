import type { Json } from "../../json.ts";
import type { Refusal } from "../compatible/text/behaviour.ts";

const CODES: Readonly<Record<number, string>> = {
  400: "Client specified an invalid argument",
  401: "The caller does not have valid authentication credentials",
  404: "Some requested entity was not found",
  415: "Client specified an invalid argument",
  429: "Some resource has been exhausted",
  500: "Internal error",
  503: "The service is currently unavailable",
};

/** Two texts: the sort of error, and what was wrong. */
export function inXAiWords({ status, message }: Refusal): Json {
  return { code: CODES[status] ?? "Unknown error", error: message };
}
