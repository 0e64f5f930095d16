import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { CallSettings, CanonCall } from "../../canon/call.ts";
import type { Notes } from "../../canon/notes.ts";
import { clampOutput } from "../../canon/traits.ts";
import type { EncodeRequestContext } from "../codec.ts";

/** Settings for which the protocol has no field, whatever the model. */
const UNKNOWN: readonly (keyof CallSettings)[] = [
  "frequencyPenalty",
  "presencePenalty",
  "seed",
  "logprobs",
  "logitBias",
  "verbosity",
  "userId",
  "cachedContent",
];

export function encodeLimit(call: CanonCall, { traits }: EncodeRequestContext, notes: Notes): number | undefined {
  const { maxOutputTokens: wanted, paths } = call;
  if (wanted === undefined) return undefined;
  const lowered = (reason: string) => notes.approximated(paths.maxOutputTokens ?? "max_tokens", reason);
  return clampOutput(wanted, traits.maxOutputTokens, lowered);
}

export function encodeSampling(
  call: CanonCall,
  { traits, origin }: EncodeRequestContext,
  thinks: boolean,
  notes: Notes,
): JsonObject {
  const { temperature, topP, paths } = call;
  const refused = traits.rejectsSampling
    ? "this model does not accept sampling settings"
    : thinks
      ? "this model does not accept sampling settings while it thinks"
      : undefined;
  if (refused !== undefined) {
    if (temperature !== undefined && !(thinks && temperature === 1)) {
      notes.dropped(paths.temperature ?? "temperature", refused);
    }
    if (topP !== undefined) notes.dropped(paths.topP ?? "top_p", refused);
    return {};
  }
  const clamped = temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature));
  if (clamped !== temperature)
    notes.approximated(paths.temperature ?? "temperature", `${clamped} is the nearest value this provider accepts`);
  const both = temperature !== undefined && topP !== undefined && origin === "messages";
  if (both) notes.dropped(paths.topP ?? "top_p", "models of this family do not accept it together with temperature");
  return {
    ...withoutAbsent({ temperature: clamped }),
    ...(topP === undefined || both ? {} : { topP }),
  };
}

export function encodeTopK(
  call: CanonCall,
  { traits, origin }: EncodeRequestContext,
  thinks: boolean,
  notes: Notes,
): JsonObject {
  const { topK, paths } = call;
  if (topK === undefined) return {};
  if (origin === "messages" && !thinks && !traits.rejectsSampling) return { top_k: topK };
  notes.dropped(paths.topK ?? "top_k", "this model does not support it in this request");
  return {};
}

export function encodeStops(call: CanonCall, { traits, origin }: EncodeRequestContext, notes: Notes): JsonObject {
  const { stop = [], paths } = call;
  if (stop.length === 0) return {};
  const path = paths.stop ?? "stop";
  if (traits.rejectsStop) {
    notes.dropped(path, "this model does not support stop sequences");
    return {};
  }
  const kept = origin === "messages" ? stop.filter((sequence) => sequence.trim() !== "") : stop;
  if (kept.length < stop.length)
    notes.dropped(path, "this model does not accept stop sequences that are only whitespace");
  return kept.length === 0 ? {} : { stopSequences: kept };
}

export function dropUnknown(call: CanonCall, notes: Notes): void {
  const reason = "this protocol has no such setting";
  for (const key of UNKNOWN) {
    const without = call[key] === undefined || (key.endsWith("Penalty") && call[key] === 0);
    if (!without) notes.dropped(call.paths[key] ?? key, reason);
  }
  if ((call.candidateCount ?? 1) > 1) notes.dropped(call.paths.candidateCount ?? "candidateCount", reason);
  if (call.parallelTools === false) notes.dropped(call.paths.parallelTools ?? "parallel_tool_calls", reason);
}
