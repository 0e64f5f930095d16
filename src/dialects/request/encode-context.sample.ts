import type { JsonObject } from "../../base/json.ts";
import type { EncodeAnswerContext } from "../codec.ts";

/** A fixed context for encoding responses in tests. */
export function encodeContext(request: JsonObject = {}): EncodeAnswerContext {
  let made = 0;
  return {
    publicModel: "acme/model",
    request: { stream_options: { include_usage: true }, ...request },
    options: { bareFinishReason: true, arrayFraming: false },
    receivedAtMs: 1_700_000_000_000,
    makeId: () => `made${++made}`,
    costUsd: () => 0,
    nowSeconds: () => 1_700_000_000,
    estimateInputTokens: () => 7,
    note: () => undefined,
  };
}
