import type { Gateway } from "../../relay/gateway.ts";
import type { AdminConfig } from "../../server/admin/admin-config.ts";
import type { Condition } from "../../server/condition.ts";
import type { Family } from "../../telemetry/family.ts";
import type { LoopLag } from "../../telemetry/loop-lag.ts";
import { gatewayFamilies } from "./gateway-families.ts";
import { type MetricsOfWorkers, mergeWorkers } from "./merge-workers.ts";
import { processFamilies } from "./process-families.ts";

interface Parts {
  gateway: Gateway;
  condition: () => Condition;
  config: Pick<AdminConfig, "lastReload">;
  lag: LoopLag;
  /** Absent where this process is the only one on its ports. */
  workers: MetricsOfWorkers | undefined;
}

/** What `/metrics` shows. One of several workers answers for all: which of them a scrape reaches is up to the system. */
export function collectMetrics(parts: Parts): () => Promise<readonly Family[]> {
  const { gateway, lag, workers } = parts;
  const startedMs = gateway.clock.wallMs();
  const own = () => [
    ...gateway.metrics.families(),
    ...gatewayFamilies({ ...parts, startedMs }),
    ...processFamilies(startedMs),
    lag.family(),
  ];
  workers?.answerWith(own);
  return async () => {
    const all = await workers?.all();
    return all === undefined || all.length === 0 ? own() : mergeWorkers(all);
  };
}
