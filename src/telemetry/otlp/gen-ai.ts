import type { Receipt } from "../../canon/receipt.ts";
import { completionTokens, promptTokens } from "../../canon/usage.ts";
import { Attributes, doubleText, wholeText } from "./attributes.ts";

/**
 * OpenTelemetry's conventions for generative AI as of version 1.41.0, the last numbered one. Everything that we use of them is
 * in this file: they are still in development, and other versions have other names.
 */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0";

export const GEN_AI_METRICS = {
  duration: "gen_ai.client.operation.duration",
  firstChunk: "gen_ai.client.operation.time_to_first_chunk",
  tokens: "gen_ai.client.token.usage",
} as const;

/** The bounds of the conventions, and two more because reasoning takes longer. */
export const DURATION_BOUNDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 600,
];
export const TOKEN_BOUNDS = Array.from({ length: 14 }, (_, power) => 4 ** power);

const OPERATIONS: Readonly<Record<Receipt["verb"], string>> = {
  generate: "chat",
  count_tokens: "count_tokens",
  images: "image_generation",
  videos: "video_generation",
  embeddings: "embeddings",
  rerank: "rerank",
  speech: "speech",
  transcriptions: "transcription",
  translations: "translation",
  moderations: "moderation",
  completions: "text_completion",
  compactions: "compaction",
  caches: "cache",
};

/** The name of the operation; our own, as allowed, where the conventions have none. */
export function operationOf({ verb, clientDialect }: Pick<Receipt, "verb" | "clientDialect">): string {
  return verb === "generate" && clientDialect === "genai" ? "generate_content" : OPERATIONS[verb];
}

/** The error type; a client that disconnects is not a failure. */
export const errorTypeOf = (outcome: string): string | undefined =>
  outcome === "ok" || outcome === "client_gone" ? undefined : outcome;

/** The usage of a call in the conventions' terms: they use totals, we use parts. */
export function usageOf({ usage }: Pick<Receipt, "usage">) {
  const cacheWrite = (usage.cacheWrite5m ?? 0) + (usage.cacheWrite1h ?? 0);
  const isKnown = usage.input !== undefined || usage.output !== undefined || usage.cacheRead !== undefined;
  return {
    input: isKnown ? promptTokens(usage) : undefined,
    output: isKnown ? completionTokens(usage) : undefined,
    cacheRead: usage.cacheRead,
    cacheWrite: cacheWrite > 0 ? cacheWrite : undefined,
  };
}

/** What the span of a call says of it, and the spans of all calls like it. */
export const callWords = (receipt: Receipt, system: string): Attributes =>
  new Attributes()
    .text("gen_ai.operation.name", operationOf(receipt))
    .text("gen_ai.provider.name", system)
    .text("gen_ai.request.model", receipt.model)
    .text("gen_ai.response.model", receipt.upstreamModel)
    .text("error.type", errorTypeOf(receipt.outcome))
    .flag("gen_ai.request.stream", receipt.stream)
    .texts("gen_ai.response.finish_reasons", receipt.stop === undefined ? [] : [receipt.stop.unified]);

/** What is of this call alone, as JSON behind other attributes. */
export function callNumbers(receipt: Receipt): string {
  const { input, output, cacheRead, cacheWrite } = usageOf(receipt);
  const { stream, firstContentMs } = receipt;
  return (
    doubleText(
      "gen_ai.response.time_to_first_chunk",
      stream && firstContentMs !== undefined ? firstContentMs / 1000 : undefined,
    ) +
    wholeText("gen_ai.usage.input_tokens", input) +
    wholeText("gen_ai.usage.output_tokens", output) +
    wholeText("gen_ai.usage.cache_read.input_tokens", cacheRead) +
    wholeText("gen_ai.usage.cache_creation.input_tokens", cacheWrite)
  );
}
