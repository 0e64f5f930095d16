import { stringAt } from "../../../base/json.ts";
import type { Stop, UnifiedStop } from "../../../canon/stop.ts";
import type { noteFinish } from "../../answer/note-finish.ts";

const UNIFIED: ReadonlyMap<string, UnifiedStop> = new Map([
  ["stop", "stop"],
  ["eos", "stop"],
  ["length", "length"],
  ["model_length", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_calls", "tool"],
  ["function_call", "tool"],
  ["content_filter", "filter"],
  ["sensitive", "filter"],
]);

/** Hosts' own words for which the contract has one (contract 2.13); all others travel as they are. */
const CONTRACT_WORD: ReadonlyMap<string, string> = new Map([
  ["eos", "stop"],
  ["model_length", "length"],
  ["model_context_window_exceeded", "length"],
  ["sensitive", "content_filter"],
]);

const WORD_OF_STOP: Readonly<Record<UnifiedStop, string>> = {
  stop: "stop",
  length: "length",
  tool: "tool_calls",
  filter: "content_filter",
  pause: "stop",
  other: "stop",
};

/** What a client of this dialect is not told of the end of an answer. */
export const UNTOLD: Parameters<typeof noteFinish>[2] = { without: ["pause", "other"], explained: false };

/** Words by which hosts say that they broke down: such an answer is not one (H16). */
const FAILURES: ReadonlySet<string> = new Set(["error", "network_error", "insufficient_system_resource"]);

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED.get(raw) ?? "other", raw });

/** Hosts say `stop` next to calls where the request forced one; clients of other protocols go by the stop alone. */
export function decodeStopBeside(raw: string, hasCalls: boolean): Stop {
  const stop = decodeStop(raw);
  return hasCalls && (stop.unified === "stop" || raw === "") ? { unified: "tool", raw } : stop;
}

/** Words by which models' own hosts say that the output limit was reached, as an aggregating host repeats them. */
const LIMITS: ReadonlySet<string> = new Set(["max_output_tokens", "max_tokens", "length", "model_length"]);

/**
 * Aggregating hosts say `tool_calls` wherever there is a call, and next to it what the model's own host said. Where that was the
 * limit, arguments that are not whole were cut by it, and the answer is what any other is that was cut.
 */
export function finishOf<Calls>(
  choice: unknown,
  calls: Calls,
  haveBroken: (calls: Calls) => boolean,
): string | undefined {
  const finish = stringAt(choice, "finish_reason") || undefined;
  const native = stringAt(choice, "native_finish_reason")?.toLowerCase() ?? "";
  const cut = finish !== undefined && LIMITS.has(native) && decodeStop(finish).unified === "tool" && haveBroken(calls);
  return cut ? "length" : finish;
}

/** `readsOlder`: the client knows calls in their older form alone. */
export const encodeStop = ({ unified }: Stop, readsOlder: boolean): string =>
  readsOlder && unified === "tool" ? "function_call" : WORD_OF_STOP[unified];

export const isFailureWord = (raw: string): boolean => FAILURES.has(raw);

/** The stop sequence that matched, which a few hosts tell; a number there is a token. */
export function decodeStopSequence(finish: string | undefined, reported: unknown): { stopSequence?: string } {
  const matched = finish === "stop" && typeof reported === "string" && reported !== "" && !UNIFIED.has(reported);
  return matched ? { stopSequence: reported } : {};
}

export const contractFinishReason = (raw: string): string => CONTRACT_WORD.get(raw) ?? raw;
