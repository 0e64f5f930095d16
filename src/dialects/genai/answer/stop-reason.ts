import type { Stop, UnifiedStop } from "../../../canon/stop.ts";

const PREFIX = "FINISH_REASON_";

const UNIFIED: ReadonlyMap<string, UnifiedStop> = new Map([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  // The host's own limit for one request. Its client sends the token of the response to get the rest.
  ["CONTINUATION", "length"],
  ["SAFETY", "filter"],
  ["RECITATION", "filter"],
  ["BLOCKLIST", "filter"],
  ["PROHIBITED_CONTENT", "filter"],
  ["SPII", "filter"],
  ["IMAGE_SAFETY", "filter"],
  ["IMAGE_PROHIBITED_CONTENT", "filter"],
  ["IMAGE_RECITATION", "filter"],
  ["MODEL_ARMOR", "filter"],
  ["ESCALATION", "filter"],
  ["PUP_LIMITED_DISABLED", "filter"],
  ["OTHER", "abnormal"],
  ["LANGUAGE", "abnormal"],
  ["MALFORMED_FUNCTION_CALL", "abnormal"],
  ["UNEXPECTED_TOOL_CALL", "abnormal"],
  ["TOO_MANY_TOOL_CALLS", "abnormal"],
  ["MISSING_THOUGHT_SIGNATURE", "abnormal"],
  ["MALFORMED_RESPONSE", "abnormal"],
  ["NO_IMAGE", "abnormal"],
  ["IMAGE_OTHER", "abnormal"],
  ["UNSPECIFIED", "other"],
]);

/**
 * The reasons by which the host reports that the model's output was unusable: without other content they are a failure (providers
 * 1.8, H16).
 */
const FAILURES: ReadonlySet<string> = new Set([
  "OTHER",
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE",
  "MALFORMED_RESPONSE",
]);

const WORD: Readonly<Record<UnifiedStop, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool: "STOP",
  filter: "SAFETY",
  // A client must not take it for a complete answer. `finishMessage` has the original.
  pause: "MAX_TOKENS",
  abnormal: "OTHER",
  other: "OTHER",
};

/** Upstreams write `STOP`, the contract `FINISH_REASON_STOP`. Both are read. */
export const bareFinishReason = (raw: string): string => (raw.startsWith(PREFIX) ? raw.slice(PREFIX.length) : raw);

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED.get(bareFinishReason(raw)) ?? "other", raw });

export const isFailureWord = (raw: string): boolean => FAILURES.has(bareFinishReason(raw));

/** The contract's spelling, or the vendor's, in which only UNSPECIFIED keeps the prefix. */
export function encodeFinishReason(raw: string, bare: boolean): string {
  const word = bareFinishReason(raw);
  return bare && word !== "UNSPECIFIED" ? word : PREFIX + word;
}

/** The upstream's raw reason if it belongs to this dialect and means the same; otherwise the dialect's own. */
export function encodeStop({ unified, raw }: Stop, bare: boolean): string {
  const word = bareFinishReason(raw);
  return encodeFinishReason(UNIFIED.get(word) === unified ? word : WORD[unified], bare);
}
