import type { JsonObject } from "../../../base/json.ts";
import type { CallSettings, Extra } from "../../../canon/call.ts";
import type { Fields } from "../../../canon/fields.ts";
import { clampOutput } from "../../../canon/traits.ts";
import { CHAT_AGES, encodeCacheOptions, takeCacheOptions } from "../../request/cache-breakpoints.ts";
import { type RequestScope, takesBreakpoints } from "./request-scope.ts";

type NumberSetting = "temperature" | "topP" | "topK" | "frequencyPenalty" | "presencePenalty" | "seed";

/** Settings that are a single number in both forms. */
const NUMBERS: readonly (readonly [NumberSetting, string])[] = [
  ["temperature", "temperature"],
  ["topP", "top_p"],
  ["topK", "top_k"],
  ["frequencyPenalty", "frequency_penalty"],
  ["presencePenalty", "presence_penalty"],
  ["seed", "seed"],
];

/** Settings for which some providers accept only part of the protocol's range. */
export const BOUNDED = [
  ["temperature", "temperature"],
  ["topP", "top_p"],
] as const;

/** The contract's names of settings that a provider may reject. */
export const SETTING_FIELDS: Readonly<Partial<Record<keyof CallSettings, readonly string[]>>> = {
  temperature: ["temperature"],
  topP: ["top_p"],
  frequencyPenalty: ["frequency_penalty"],
  presencePenalty: ["presence_penalty"],
  seed: ["seed"],
  stop: ["stop"],
  logprobs: ["logprobs", "top_logprobs"],
  logitBias: ["logit_bias"],
  candidateCount: ["n"],
  verbosity: ["verbosity"],
  parallelTools: ["parallel_tool_calls"],
  userId: ["user"],
};

/** Settings that models without sampling reject. */
const SAMPLING = [
  "temperature",
  "topP",
  "topK",
  "frequencyPenalty",
  "presencePenalty",
  "logprobs",
  "logitBias",
] as const satisfies readonly (keyof CallSettings)[];

const MAX_STOPS = 4;
const MAX_TOP_LOGPROBS = 20;

interface DecodedSettings {
  settings: CallSettings;
  paths: Partial<Record<keyof CallSettings, string>>;
  extras: readonly Extra[];
}

export function decodeSettings(body: Fields): DecodedSettings {
  const settings: CallSettings = {};
  const paths: DecodedSettings["paths"] = {};
  const set = <K extends keyof CallSettings>(key: K, value: CallSettings[K] | undefined, path: string) => {
    if (value === undefined) return;
    settings[key] = value;
    paths[key] = path;
  };
  const limit = body.number("max_completion_tokens");
  // If both are given, the newer one is used, and the other stays unread.
  if (limit !== undefined) set("maxOutputTokens", limit, "max_completion_tokens");
  else set("maxOutputTokens", body.number("max_tokens"), "max_tokens");
  for (const [key, field] of NUMBERS) set(key, body.number(field), field);
  const stop = body.take("stop");
  set("stop", typeof stop === "string" ? [stop] : (stop as readonly string[] | undefined), "stop");
  const alternatives = body.number("top_logprobs");
  if (body.boolean("logprobs")) set("logprobs", alternatives ?? 0, alternatives ? "top_logprobs" : "logprobs");
  set("logitBias", body.object("logit_bias"), "logit_bias");
  set("candidateCount", body.number("n"), "n");
  set("verbosity", body.string("verbosity") as CallSettings["verbosity"], "verbosity");
  set("parallelTools", body.boolean("parallel_tool_calls"), "parallel_tool_calls");
  // The newer of the two names is used, and the other stays unread.
  const user = body.string("safety_identifier");
  if (user !== undefined) set("userId", user, "safety_identifier");
  else set("userId", body.string("user"), "user");
  const options = takeCacheOptions(body);
  return {
    settings: { ...settings, ...options.settings },
    paths: { ...paths, ...options.paths },
    extras: options.extras,
  };
}

/** Encodes the settings. What the provider does not accept is left out or adjusted, and noted. */
export function encodeSettings(scope: RequestScope): JsonObject {
  const { call, notes, context } = scope;
  const { quirks, traits } = context;
  const body: Record<string, unknown> = {};
  const pathOf = (key: keyof CallSettings) => call.paths[key] ?? key;
  const settings = withoutRefused(scope);
  if (settings.maxOutputTokens !== undefined) {
    const lowered = (reason: string) => notes.approximated(pathOf("maxOutputTokens"), reason);
    body[quirks.maxTokensField] = clampOutput(settings.maxOutputTokens, traits.maxOutputTokens, lowered);
  }
  for (const [key, field] of NUMBERS) {
    const value = settings[key];
    if (value !== undefined) body[key === "seed" ? quirks.seedField : field] = value;
  }
  for (const [key, field] of BOUNDED) {
    const value = settings[key];
    if (value === undefined) continue;
    const fitting = fitInterval(value, quirks[key]);
    if (fitting !== value) notes.approximated(pathOf(key), `${fitting} is the nearest value this provider accepts`);
    body[field] = fitting;
  }
  if (settings.stop !== undefined && settings.stop.length > 0) {
    if (settings.stop.length > MAX_STOPS) {
      notes.approximated(
        pathOf("stop"),
        `this protocol accepts at most ${MAX_STOPS}; the first ${MAX_STOPS} were sent`,
      );
    }
    body["stop"] = settings.stop.slice(0, MAX_STOPS);
  }
  if (settings.logprobs !== undefined) {
    const alternatives = Math.min(settings.logprobs, MAX_TOP_LOGPROBS);
    if (alternatives !== settings.logprobs) {
      notes.approximated(pathOf("logprobs"), `this protocol returns at most ${MAX_TOP_LOGPROBS} alternatives`);
    }
    body["logprobs"] = true;
    if (alternatives > 0) body["top_logprobs"] = alternatives;
  }
  if (settings.logitBias !== undefined) body["logit_bias"] = settings.logitBias;
  if (settings.candidateCount === 1) body["n"] = 1;
  else if (settings.candidateCount !== undefined)
    notes.dropped(pathOf("candidateCount"), "only one response is generated");
  if (settings.verbosity !== undefined) body["verbosity"] = settings.verbosity;
  if (settings.userId !== undefined) {
    const newer = pathOf("userId") === "safety_identifier" && (call.dialect === "chat" || quirks.accountFields);
    body[newer ? "safety_identifier" : "user"] = settings.userId;
  }
  if (settings.cachedContent !== undefined) {
    notes.dropped(pathOf("cachedContent"), "only the provider that stores this content can use it");
  }
  if (settings.cache !== undefined && (call.dialect === "chat" || takesBreakpoints(scope))) {
    const approximate = (reason: string) => notes.approximated(pathOf("cache"), reason);
    Object.assign(body, encodeCacheOptions(settings.cache, CHAT_AGES, approximate));
  } else if (settings.cache?.ttl !== undefined || settings.cache?.explicit) {
    notes.dropped(pathOf("cache"), "this provider decides what to cache and for how long");
  }
  return body;
}

function withoutRefused({ call, notes, context: { quirks, traits } }: RequestScope): CallSettings {
  const settings: CallSettings = { ...call };
  const refuse = (key: keyof CallSettings, reason: string) => {
    if (settings[key] === undefined) return;
    notes.dropped(call.paths[key] ?? key, reason);
    delete settings[key];
  };
  for (const key of quirks.unsupported) refuse(key, "this provider does not support it");
  if (traits.rejectsSampling) for (const key of SAMPLING) refuse(key, "this model does not support it");
  if (traits.rejectsStop) refuse("stop", "this model does not support it");
  return settings;
}

/** The ends of an open interval are adjusted by a hundredth. */
export function fitInterval(value: number, range: { min: number; max: number } | undefined): number {
  if (range === undefined) return value;
  if (value <= range.min) return range.min + 0.01;
  return value >= range.max ? range.max - 0.01 : value;
}
