import type { Stop, UnifiedStop } from "../../canon/stop.ts";

const UNIFIED: Readonly<Record<string, UnifiedStop>> = {
  stop: "stop",
  eos: "stop",
  length: "length",
  model_length: "length",
  tool_calls: "tool",
  function_call: "tool",
  content_filter: "filter",
  sensitive: "filter",
};

/** Hosts' own words for which the contract (2.13) has one; all others travel as they are. */
const CONTRACT_WORD: Readonly<Record<string, string>> = {
  eos: "stop",
  model_length: "length",
  sensitive: "content_filter",
};

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED[raw] ?? "other", raw });

export const contractFinishReason = (raw: string): string => CONTRACT_WORD[raw] ?? raw;
