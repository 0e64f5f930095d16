import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { clampOutput } from "../../../canon/traits.ts";
import { nearestLevel } from "../../genai/request/reasoning.ts";
import { type EncodeScope, isOwn } from "./encode-scope.ts";

const pathOfSetting = ({ call }: EncodeScope, name: keyof CanonCall["paths"]): string => call.paths[name] ?? name;

/** The `generation_config` for the upstream, without the choice of tools. */
export function encodeSettings(scope: EncodeScope): JsonObject {
  noteUnknown(scope);
  return { ...encodeSampling(scope), ...encodeLimits(scope), ...encodeThinking(scope) };
}

function encodeSampling(scope: EncodeScope): JsonObject {
  const { call, context, notes } = scope;
  const { temperature, topP: top_p, seed } = call;
  if (!context.traits.rejectsSampling) return withoutAbsent({ temperature, top_p, seed });
  for (const name of ["temperature", "topP"] as const) {
    if (call[name] !== undefined) notes.dropped(pathOfSetting(scope, name), "this model does not accept it");
  }
  return withoutAbsent({ seed });
}

function encodeLimits(scope: EncodeScope): JsonObject {
  const { call, context, notes } = scope;
  const lowered = (reason: string) => notes.approximated(pathOfSetting(scope, "maxOutputTokens"), reason);
  const wanted = call.maxOutputTokens;
  const max_output_tokens = wanted && clampOutput(wanted, context.traits.maxOutputTokens, lowered);
  const stop = (call.stop ?? []).filter((one) => one !== "");
  if (stop.length === 0) return withoutAbsent({ max_output_tokens });
  if (context.traits.rejectsStop) {
    notes.dropped(pathOfSetting(scope, "stop"), "this model does not support stop sequences");
    return withoutAbsent({ max_output_tokens });
  }
  return { ...withoutAbsent({ max_output_tokens }), stop_sequences: stop };
}

/** This protocol has levels, and no way to turn thinking off. */
function encodeThinking(scope: EncodeScope): JsonObject {
  const { call, context, notes } = scope;
  const { reasoning } = call;
  if (reasoning === undefined) return {};
  const { amount, path, show } = reasoning;
  if (!context.traits.reasoning) {
    if (amount !== "off") notes.dropped(path, "this model does not support thinking");
    return {};
  }
  const level =
    amount === undefined || amount === "dynamic" ? undefined : nearestLevel(amount, context.traits, path, notes);
  // Thoughts are shown only on request; clients of other protocols expect to see them.
  const shown = amount === "off" ? undefined : (show ?? (isOwn(scope) ? undefined : true));
  return withoutAbsent({
    thinking_level: level,
    thinking_summaries: shown === undefined ? undefined : shown ? "auto" : "none",
  });
}

/** The settings that this protocol does not have. */
const UNKNOWN: Readonly<Partial<Record<keyof CanonCall["paths"], string>>> = {
  topK: "this protocol has no top_k",
  frequencyPenalty: "this protocol has no penalties",
  presencePenalty: "this protocol has no penalties",
  logprobs: "this protocol has no log probabilities",
  logitBias: "this protocol has no token biases",
  userId: "this protocol has no field for the caller's user",
};

function noteUnknown(scope: EncodeScope): void {
  const { call, notes } = scope;
  const lost = (name: keyof CanonCall["paths"], reason: string) => notes.dropped(pathOfSetting(scope, name), reason);
  for (const [name, reason] of Object.entries(UNKNOWN) as [keyof typeof UNKNOWN & keyof CanonCall, string][]) {
    if (call[name] !== undefined) lost(name as keyof CanonCall["paths"], reason);
  }
  if (call.cache?.ttl !== undefined) lost("cache", "this provider caches automatically and accepts no lifetime");
  else if (call.cache?.explicit) lost("cache", "this provider decides what to cache");
  if ((call.candidateCount ?? 1) > 1) lost("candidateCount", "only one response is generated");
  if (call.verbosity !== undefined && call.verbosity !== "medium") {
    lost("verbosity", "this protocol has no setting for verbosity");
  }
}
