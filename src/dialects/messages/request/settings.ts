import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CallSettings, CanonCall } from "../../../canon/call.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { ModelTraits } from "../../../canon/traits.ts";

/** Settings without a field in this dialect. */
const NO_FIELD: readonly (keyof CallSettings)[] = [
  "frequencyPenalty",
  "presencePenalty",
  "seed",
  "logprobs",
  "logitBias",
  "candidateCount",
  "verbosity",
  "cachedContent",
];

/** The defaults of these settings: nothing is lost if the client sends them. */
const DEFAULTS: Partial<Record<keyof CallSettings, unknown>> = {
  frequencyPenalty: 0,
  presencePenalty: 0,
  candidateCount: 1,
};

/** `thinking`: the model thinks before it answers, which rules out sampling settings. */
export function encodeSettings(call: CanonCall, traits: ModelTraits, thinking: boolean, notes: Notes): JsonObject {
  const drop = (name: keyof CallSettings, reason: string) => notes.dropped(call.paths[name] ?? name, reason);
  for (const name of NO_FIELD) {
    if (call[name] !== undefined && call[name] !== DEFAULTS[name]) drop(name, "this protocol has no such field");
  }
  return {
    ...encodeSampling(call, traits, thinking, notes, drop),
    ...encodeStops(call, traits, drop),
    ...(call.userId === undefined ? {} : { metadata: { user_id: call.userId } }),
  };
}

type Drop = (name: keyof CallSettings, reason: string) => void;

function encodeSampling(call: CanonCall, traits: ModelTraits, thinking: boolean, notes: Notes, drop: Drop): JsonObject {
  const { temperature, topP, topK } = call;
  const refused = traits.rejectsSampling
    ? "this model does not accept sampling settings"
    : thinking
      ? "a model that thinks does not accept sampling settings"
      : undefined;
  if (refused !== undefined) {
    // Thinking itself requires a temperature of 1.
    const kept = temperature === 1 && !traits.rejectsSampling;
    if (temperature !== undefined && !kept) drop("temperature", refused);
    if (topP !== undefined) drop("topP", refused);
    if (topK !== undefined) drop("topK", refused);
    return kept ? { temperature } : {};
  }
  const clamped = temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature));
  if (clamped !== temperature) {
    notes.approximated(call.paths.temperature ?? "temperature", `this protocol accepts 0 to 1; ${clamped} was sent`);
  }
  const both = temperature !== undefined && topP !== undefined;
  if (both) drop("topP", "newer models of this protocol do not accept both temperature and top_p");
  return withoutAbsent({ temperature: clamped, top_p: both ? undefined : topP, top_k: topK });
}

function encodeStops({ stop = [] }: CanonCall, traits: ModelTraits, drop: Drop): JsonObject {
  if (stop.length > 0 && traits.rejectsStop) {
    drop("stop", "this model does not support stop sequences");
    return {};
  }
  const visible = stop.filter((word) => word.trim() !== "");
  if (visible.length < stop.length) drop("stop", "this provider rejects stop sequences that are only whitespace");
  return visible.length === 0 ? {} : { stop_sequences: visible };
}
