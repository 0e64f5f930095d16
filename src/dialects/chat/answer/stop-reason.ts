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

/** Provider terms with a contract equivalent (contract 2.13). All others pass unchanged. */
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
  // A client must not take either for a complete answer. `stop_details` has the original.
  pause: "length",
  abnormal: "content_filter",
  other: "stop",
};

/** What this dialect cannot tell a client about the end of an answer. */
export const UNTOLD: Parameters<typeof noteFinish>[2] = { without: ["pause", "abnormal", "other"], explained: true };

/** Reasons that report a failure of the provider. They end no valid answer (H16). */
const FAILURES: ReadonlySet<string> = new Set(["error", "network_error", "insufficient_system_resource"]);

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED.get(raw) ?? "other", raw });

/** Providers report `stop` next to a forced call. Clients of other protocols rely on the stop reason alone. */
export function decodeStopBeside(raw: string, hasCalls: boolean): Stop {
  const stop = decodeStop(raw);
  return hasCalls && (stop.unified === "stop" || raw === "") ? { unified: "tool", raw } : stop;
}

/** Terms of the models' own hosts for a reached output limit, as repeated by an aggregating host. */
const LIMITS: ReadonlySet<string> = new Set(["max_output_tokens", "max_tokens", "length", "model_length"]);

/**
 * Aggregating hosts report `tool_calls` for any call, and next to it the reason of the model's own host. If that was the output limit, it
 * truncated the incomplete arguments, and the answer counts as cut off.
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

/** `readsOlder`: the client supports only legacy function calls. */
export const encodeStop = ({ unified }: Stop, readsOlder: boolean): string =>
  readsOlder && unified === "tool" ? "function_call" : WORD_OF_STOP[unified];

export const isFailureWord = (raw: string): boolean => FAILURES.has(raw);

/** The stop sequence that matched, which a few providers report. A number there is a token. */
export function decodeStopSequence(finish: string | undefined, reported: unknown): { stopSequence?: string } {
  const matched = finish === "stop" && typeof reported === "string" && reported !== "" && !UNIFIED.has(reported);
  return matched ? { stopSequence: reported } : {};
}

export const contractFinishReason = (raw: string): string => CONTRACT_WORD.get(raw) ?? raw;
