import { withoutAbsent } from "../base/without-absent.ts";
import { NO_PREFERENCE, type Preference, readFallback } from "../canon/preference.ts";
import { DEFAULT_GATEWAY_ROUTING, type GatewayRouting, type RoutingSettings } from "../canon/routing-settings.ts";
import { camelKeys } from "./camel-keys.ts";
import type { KeyRoutingFile, RoutingFile } from "./routing-schema.ts";

/** The section with its defaults. */
export function toRouting(file: RoutingFile = {}): GatewayRouting {
  const { breaker, max_concurrent, max_queue, queue_ms, ...calls } = file;
  return {
    calls: { ...DEFAULT_GATEWAY_ROUTING.calls, ...toRoutingSettings(calls) },
    breaker: { ...DEFAULT_GATEWAY_ROUTING.breaker, ...camelKeys(breaker ?? {}) },
    maxConcurrent: max_concurrent ?? DEFAULT_GATEWAY_ROUTING.maxConcurrent,
    maxQueue: max_queue ?? DEFAULT_GATEWAY_ROUTING.maxQueue,
    queueMs: queue_ms ?? DEFAULT_GATEWAY_ROUTING.queueMs,
  };
}

/** The routing of one key. */
export function toRoutingSettings({
  type,
  primary_factor,
  fallback,
  sticky,
  ...calls
}: KeyRoutingFile): RoutingSettings {
  const preference: Preference = withoutAbsent({
    type,
    primaryFactor: primary_factor,
    fallback: fallback === undefined ? undefined : readFallback(fallback),
    sticky: sticky === undefined ? undefined : sticky === "prompt_cache",
  });
  return { ...camelKeys(calls), preference: Object.keys(preference).length === 0 ? NO_PREFERENCE : preference };
}
