import type { ProviderSettings } from "../config/config.ts";
import type { SpokenDialect, UpstreamCall } from "./provider.ts";

/** `{models}/{model}:{verb}`, as the Gemini API and Vertex AI share it. Streams are always server-sent events. */
export function googleDialect(models: (settings: ProviderSettings) => string): SpokenDialect {
  const path = (call: UpstreamCall, settings: ProviderSettings, verb: string) =>
    `${models(settings)}/${encodeURIComponent(call.model)}:${verb}`;
  return {
    generate: (call, settings) =>
      path(call, settings, call.stream ? "streamGenerateContent?alt=sse" : "generateContent"),
    countTokens: (call, settings) => path(call, settings, "countTokens"),
  };
}
