import type { JsonObject } from "../base/json.ts";

/** A body without what it says to the gateway itself: no provider is sent that. */
export function withoutRouting(body: JsonObject): JsonObject {
  const { provider: _provider, model_routing_config: _config, trivium: _trivium, ...rest } = body;
  return rest;
}
