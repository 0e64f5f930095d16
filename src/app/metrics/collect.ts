import type { Alerts } from "../../alerts/alerts.ts";
import type { Exports } from "../../exports/exports.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { AdminConfig } from "../../server/admin/admin-config.ts";
import type { GatewayCondition } from "../../server/condition.ts";
import type { LiveSessions } from "../../server/live/live-sessions.ts";
import type { Family } from "../../telemetry/family.ts";
import type { LoopLag } from "../../telemetry/loop-lag.ts";
import type { OtlpExporter } from "../../telemetry/otlp/exporter.ts";
import type { BudgetWatch } from "../watch-budgets.ts";
import type { ObjectWatch } from "../watch-objects.ts";
import { alertFamilies } from "./alert-families.ts";
import { answerCacheFamilies } from "./answer-cache-families.ts";
import { exportFamilies } from "./export-families.ts";
import { gatewayFamilies } from "./gateway-families.ts";
import { type MetricsOfWorkers, mergeWorkers } from "./merge-workers.ts";
import { type LineOutcomes, objectFamilies } from "./object-families.ts";
import { processFamilies } from "./process-families.ts";

interface Parts {
  gateway: Gateway;
  live: LiveSessions;
  condition: () => GatewayCondition;
  config: Pick<AdminConfig, "lastReload">;
  budgets: Pick<BudgetWatch, "uses">;
  alerts: Pick<Alerts, "settings" | "deliveries">;
  objects: Pick<ObjectWatch, "counted">;
  exports: Pick<Exports, "states" | "counts">;
  lineOutcomes: LineOutcomes;
  lag: LoopLag;
  /** Absent if nothing is exported. */
  exporter: OtlpExporter | undefined;
  /** Absent if this is the only process on its ports. */
  workers: MetricsOfWorkers | undefined;
}

interface CollectedMetrics {
  /** Of this process. */
  own: () => readonly Family[];
  /** Of all workers. */
  all: () => Promise<readonly Family[]>;
}

/**
 * The content of `/metrics`. Any of several workers responds for all, because the system decides which of them a scrape
 * reaches.
 */
export function collectMetrics(parts: Parts): CollectedMetrics {
  const { gateway, alerts, objects, lineOutcomes, lag, workers, exporter } = parts;
  const startedMs = gateway.clock.wallMs();
  const own = () => [
    ...gateway.metrics.families(),
    ...gatewayFamilies({ ...parts, startedMs }),
    ...alertFamilies(alerts),
    ...objectFamilies(
      objects.counted,
      { lines: lineOutcomes, uploads: gateway.filesAtProviders.counts },
      gateway.clock.wallMs(),
    ),
    ...exportFamilies(parts.exports),
    ...answerCacheFamilies(gateway.answerCache),
    ...processFamilies(startedMs),
    lag.family(),
    ...(exporter === undefined ? [] : [exporter.family()]),
  ];
  workers?.answerWith(own);
  return {
    own,
    all: async () => {
      const all = await workers?.all();
      return all === undefined || all.length === 0 ? own() : mergeWorkers(all);
    },
  };
}
