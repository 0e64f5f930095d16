import type { ProviderSettings } from "../config/config.ts";
import type { UpstreamCall, Wire } from "./provider.ts";

/** `{models}/{model}:{verb}`, as the Gemini API and Vertex AI share it. Streams are always asked for as events. */
export function googleWire(models: (settings: ProviderSettings) => string): Wire {
  const address = (call: UpstreamCall, settings: ProviderSettings, verb: string) =>
    `${models(settings)}/${encodeURIComponent(call.model)}:${verb}`;
  return {
    generate: (call, settings) =>
      address(call, settings, call.stream ? "streamGenerateContent?alt=sse" : "generateContent"),
    countTokens: (call, settings) => address(call, settings, "countTokens"),
  };
}
