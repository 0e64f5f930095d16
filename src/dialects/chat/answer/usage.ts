import { arrayAt, isObject, type JsonObject, numberAt, objectAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { addToolUse, completionTokens, countAt, promptTokens, type Usage } from "../../../canon/usage.ts";
import { generatedTokens } from "../../answer/generated-tokens.ts";
import { unknownCounters } from "../../answer/unknown-counters.ts";
import { promptCounts } from "../../request/prompt-counts.ts";
import type { ChatQuirks } from "../quirks.ts";
import { KNOWN_COUNTERS } from "./known-counters.ts";

/** The usage of a chunk or whole answer, in its own member or where some providers put it. */
export function usageIn(answer: JsonObject): { raw: JsonObject; elsewhere: boolean } | undefined {
  const own = objectAt(answer, "usage");
  if (own !== undefined && countAt(own, "prompt_tokens") !== undefined) return { raw: own, elsewhere: false };
  const other = objectAt(objectAt(answer, "x_groq"), "usage") ?? objectAt(arrayAt(answer, "choices")[0], "usage");
  return other === undefined ? undefined : { raw: other, elsewhere: true };
}

export function readUsage(answer: JsonObject, quirks: Pick<ChatQuirks, "reasoningBeside">): Usage | undefined {
  return decodeUsage(usageIn(answer)?.raw, quirks.reasoningBeside);
}

/**
 * `prompt_tokens` includes cached tokens. `completion_tokens` includes reasoning, except at providers that always exclude it
 * (`reasoningBeside`) and at some where only `total_tokens` shows it. The cached count is in one of five places.
 */
export function decodeUsage(raw: unknown, reasoningBeside = false): Usage | undefined {
  const prompt = countAt(raw, "prompt_tokens");
  if (prompt === undefined || !isObject(raw)) return undefined;
  const promptDetails = objectAt(raw, "prompt_tokens_details");
  const completion = countAt(raw, "completion_tokens");
  const completionDetails = objectAt(raw, "completion_tokens_details");
  const reasoning = countAt(completionDetails, "reasoning_tokens") ?? countAt(raw, "reasoning_tokens");
  const total = countAt(raw, "total_tokens");
  const spoken = secondsAt(raw, "prompt_audio_seconds");
  // Audio that is counted in seconds is only in the total: it is neither in the prompt nor in the completion.
  const heard = spoken === undefined || total === undefined ? 0 : Math.max(0, total - prompt - (completion ?? 0));
  const usage: Usage = promptCounts({
    prompt: prompt + heard,
    cacheRead:
      countAt(promptDetails, "cached_tokens") ??
      countAt(objectAt(raw, "prompt_token_details"), "cached_tokens") ??
      countAt(raw, "num_cached_tokens") ??
      countAt(raw, "prompt_cache_hit_tokens") ??
      countAt(raw, "cached_tokens"),
    cacheWrite: countAt(promptDetails, "cache_write_tokens"),
    audio: heard > 0 ? heard : countAt(promptDetails, "audio_tokens"),
    leftByTotal: total === undefined ? undefined : total - (completion ?? 0),
  });
  const behindPrompt = (total ?? 0) - promptTokens(usage);
  const generated = generatedTokens({ completion, reasoning, behindPrompt, reasoningBeside });
  if (generated !== undefined) {
    const { said, thought } = generated;
    const sound = Math.min(countAt(completionDetails, "audio_tokens") ?? 0, said);
    const images = Math.min(countAt(completionDetails, "image_tokens") ?? 0, said - sound);
    usage.output = said - sound - images;
    if (sound > 0) usage.audioOutput = sound;
    if (images > 0) usage.imageOutput = images;
    if (thought !== undefined) usage.reasoning = thought;
  }
  if (spoken !== undefined) usage.seconds = spoken;
  const searches =
    countAt(objectAt(raw, "server_tool_use_details"), "web_search_requests") ??
    countAt(objectAt(raw, "server_tool_use"), "web_search_requests");
  if (searches) usage.searches = searches;
  const unknown = unknownCounters("usage", raw, KNOWN_COUNTERS);
  if (unknown !== undefined) usage.unknown = unknown;
  const sources = countAt(raw, "num_sources_used");
  if (sources) return addToolUse(usage, "live_search", sources);
  return usage;
}

/** A number of seconds; undefined if there is no sound. */
function secondsAt(raw: JsonObject, key: string): number | undefined {
  const seconds = numberAt(raw, key);
  return seconds !== undefined && seconds > 0 && seconds < MAX_SECONDS ? seconds : undefined;
}

/** No prompt has more than a day of sound. */
const MAX_SECONDS = 86_400;

/** The reverse, with both details (choices 5). This protocol has one number for both ages of cache entries. */
export function encodeUsage(usage: Usage, costUsd?: number): JsonObject {
  const { cacheRead = 0, cacheWrite5m, cacheWrite1h, audioInput, audioOutput, imageOutput } = usage;
  const { reasoning = 0, searches } = usage;
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  const cacheWrite =
    cacheWrite5m === undefined && cacheWrite1h === undefined ? undefined : (cacheWrite5m ?? 0) + (cacheWrite1h ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      ...withoutAbsent({ cache_write_tokens: cacheWrite, audio_tokens: audioInput }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...withoutAbsent({ audio_tokens: audioOutput, image_tokens: imageOutput }),
    },
    ...(searches === undefined ? {} : { server_tool_use: { web_search_requests: searches } }),
    ...withoutAbsent({ cost: costUsd }),
  };
}
