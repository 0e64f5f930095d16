import { arrayAt, isObject, type JsonObject } from "../../../base/json.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../../canon/usage.ts";
import { unknownCounters } from "../../answer/unknown-counters.ts";
import { usageOfCounts } from "../../genai/answer/usage.ts";
import { KNOWN_COUNTERS } from "./known-counters.ts";

/**
 * `total_input_tokens` includes cached tokens but not those of hosted tools; `total_output_tokens` excludes thoughts. Uses of tools are
 * counted by `HostedToolUses`.
 */
export function decodeUsage(raw: unknown): Usage | undefined {
  const prompt = countAt(raw, "total_input_tokens");
  if (prompt === undefined || !isObject(raw)) return undefined;
  const usage = usageOfCounts({
    prompt,
    cached: countAt(raw, "total_cached_tokens"),
    toolUse: countAt(raw, "total_tool_use_tokens"),
    completion: countAt(raw, "total_output_tokens"),
    reasoning: countAt(raw, "total_thought_tokens"),
    total: countAt(raw, "total_tokens"),
    audioPrompt:
      tokensOf(raw, "input_tokens_by_modality", "audio") - tokensOf(raw, "cached_tokens_by_modality", "audio"),
    imageOutput: tokensOf(raw, "output_tokens_by_modality", "image"),
    audioOutput: tokensOf(raw, "output_tokens_by_modality", "audio"),
  });
  const unknown = unknownCounters("usage", raw, KNOWN_COUNTERS);
  if (unknown !== undefined) usage.unknown = unknown;
  return usage;
}

function tokensOf(raw: JsonObject, details: string, modality: "image" | "audio"): number {
  const found = arrayAt(raw, details).find((entry) => isObject(entry) && entry["modality"] === modality);
  return countAt(found, "tokens") ?? 0;
}

/** The sums equal the billed usage. This protocol has no count of cache writes. */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheRead, reasoning, output, audioInput = 0, imageOutput = 0, audioOutput = 0 } = usage;
  const prompt = promptTokens(usage);
  const byModality = (list: readonly (readonly [string, number])[]) =>
    list.flatMap(([modality, tokens]) => (tokens > 0 ? [{ modality, tokens }] : []));
  return {
    total_tokens: prompt + completionTokens(usage),
    total_input_tokens: prompt,
    input_tokens_by_modality: byModality([
      ["text", prompt - audioInput],
      ["audio", audioInput],
    ]),
    ...(cacheRead === undefined ? {} : { total_cached_tokens: cacheRead }),
    ...(output === undefined ? {} : { total_output_tokens: output + imageOutput + audioOutput }),
    ...(imageOutput + audioOutput === 0
      ? {}
      : {
          output_tokens_by_modality: byModality([
            ["text", output ?? 0],
            ["image", imageOutput],
            ["audio", audioOutput],
          ]),
        }),
    ...(reasoning === undefined ? {} : { total_thought_tokens: reasoning }),
  };
}
