import type { JsonObject } from "../../../json.ts";
import type { Plan } from "../../../text/plan.ts";
import type { GoogleHost } from "./errors.ts";

/** Usage so far: every chunk carries it, and only the candidates' count grows. */
export function usageMetadata(plan: Plan, host: GoogleHost, candidateTokens: number): JsonObject {
  const { usage } = plan;
  const total = usage.input + candidateTokens + usage.reasoning + usage.searchInput;
  const details = [...usage.byModality].flatMap(([modality, tokenCount]) =>
    tokenCount > 0 ? [{ modality, tokenCount }] : [],
  );
  const text = (tokenCount: number): JsonObject[] => [{ modality: "TEXT", tokenCount }];
  return {
    promptTokenCount: usage.input,
    ...(candidateTokens > 0 ? { candidatesTokenCount: candidateTokens } : {}),
    totalTokenCount: total,
    ...(usage.cacheRead > 0
      ? { cachedContentTokenCount: usage.cacheRead, cacheTokensDetails: text(usage.cacheRead) }
      : {}),
    promptTokensDetails: details,
    ...(host === "vertex" && candidateTokens > 0 ? { candidatesTokensDetails: text(candidateTokens) } : {}),
    ...(usage.searchInput > 0
      ? { toolUsePromptTokenCount: usage.searchInput, toolUsePromptTokensDetails: text(usage.searchInput) }
      : {}),
    ...(usage.reasoning > 0 ? { thoughtsTokenCount: usage.reasoning } : {}),
    ...(host === "vertex" ? { trafficType: "ON_DEMAND" } : { serviceTier: "standard" }),
  };
}
