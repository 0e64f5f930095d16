import type { JsonObject } from "../../../base/json.ts";
import type { CallSettings } from "../../../canon/call.ts";
import { clampOutput } from "../../../canon/traits.ts";
import { encodeCacheOptions, RESPONSES_AGES } from "../../request/cache-breakpoints.ts";
import { isOwn, type RequestScope, takesBreakpoints } from "./request-scope.ts";

/** Providers return 400 for less. */
export const MIN_OUTPUT = 16;
export const RAISED = `this protocol's minimum is ${MIN_OUTPUT}`;
const MAX_TOP_LOGPROBS = 20;
/** The maximum length of the newer of two fields for the caller's end user. */
const MAX_IDENTIFIER = 128;

/** Settings that this dialect has no field for. */
const ABSENT = ["topK", "frequencyPenalty", "presencePenalty", "seed", "stop", "logitBias"] as const;

/** Settings that models without sampling reject (R25). */
const SAMPLING = ["temperature", "topP", "logprobs"] as const;

const LOGPROBS = "message.output_text.logprobs";

interface EncodedSettings {
  fields: JsonObject;
  /** What the response must be asked to include. */
  include: readonly string[];
}

/** Encodes the settings. What the provider does not accept is left out or adjusted, and noted. */
export function encodeSettings(scope: RequestScope): EncodedSettings {
  const { call, context, notes } = scope;
  const body: Record<string, unknown> = {};
  const include: string[] = [];
  const pathOf = (key: keyof CallSettings) => call.paths[key] ?? key;
  const settings = withoutRefused(scope);
  if (settings.maxOutputTokens !== undefined) {
    const changed = (reason: string) => notes.approximated(pathOf("maxOutputTokens"), reason);
    const limit = clampOutput(settings.maxOutputTokens, context.traits.maxOutputTokens, changed);
    if (limit < MIN_OUTPUT) changed(RAISED);
    body["max_output_tokens"] = Math.max(MIN_OUTPUT, limit);
  }
  if (settings.temperature !== undefined) body["temperature"] = settings.temperature;
  if (settings.topP !== undefined) body["top_p"] = settings.topP;
  if (settings.logprobs !== undefined) {
    const alternatives = Math.min(settings.logprobs, MAX_TOP_LOGPROBS);
    if (alternatives !== settings.logprobs) {
      notes.approximated(pathOf("logprobs"), `this protocol returns at most ${MAX_TOP_LOGPROBS} alternatives`);
    }
    if (alternatives > 0) body["top_logprobs"] = alternatives;
    include.push(LOGPROBS);
  }
  if (settings.candidateCount !== undefined && settings.candidateCount !== 1) {
    notes.dropped(pathOf("candidateCount"), "only one response is generated");
  }
  if (settings.userId !== undefined) {
    const field = pathOf("userId") === "user" || settings.userId.length > MAX_IDENTIFIER ? "user" : "safety_identifier";
    body[field] = settings.userId;
  }
  if (settings.cachedContent !== undefined) {
    notes.dropped(pathOf("cachedContent"), "only the provider that stores this content can use it");
  }
  if (settings.cache !== undefined && (isOwn(scope) || takesBreakpoints(scope))) {
    const approximate = (reason: string) => notes.approximated(pathOf("cache"), reason);
    Object.assign(body, encodeCacheOptions(settings.cache, RESPONSES_AGES, approximate));
  } else if (settings.cache?.ttl !== undefined || settings.cache?.explicit) {
    notes.dropped(pathOf("cache"), "this provider decides what to cache and for how long");
  }
  return { fields: body, include };
}

function withoutRefused({ call, notes, context: { quirks, traits } }: RequestScope): CallSettings {
  const settings: CallSettings = { ...call };
  if (settings.stop?.length === 0) delete settings.stop;
  const refuse = (key: keyof CallSettings, reason: string) => {
    if (settings[key] === undefined) return;
    notes.dropped(call.paths[key] ?? key, reason);
    delete settings[key];
  };
  for (const key of ABSENT) refuse(key, "this provider's protocol has no such setting");
  for (const key of quirks.unsupported) refuse(key, "this provider does not support it");
  if (traits.rejectsSampling) for (const key of SAMPLING) refuse(key, "this model does not support it");
  return settings;
}
