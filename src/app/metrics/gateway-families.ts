import type { Gateway } from "../../relay/gateway.ts";
import { healthReport, type ProviderReport } from "../../routing/health/health-report.ts";
import type { AdminConfig } from "../../server/admin/admin-config.ts";
import type { GatewayCondition } from "../../server/condition.ts";
import { counter, type Family, family, gauge } from "../../telemetry/family.ts";
import type { BudgetWatch } from "../watch-budgets.ts";

interface Parts {
  gateway: Gateway;
  condition: () => GatewayCondition;
  config: Pick<AdminConfig, "lastReload">;
  budgets: Pick<BudgetWatch, "uses">;
  /** Moment of the start, by the wall clock. */
  startedMs: number;
}

const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const;

/** The state of the gateway at this moment. Nothing is queried: a scrape is answered whatever hangs. */
export function gatewayFamilies({ gateway, condition, config, budgets, startedMs }: Parts): Family[] {
  const { clock, health, snapshot } = gateway;
  const { status } = condition();
  const last = config.lastReload;
  return [
    gauge("trivium_ready", "1 where new calls are taken.", status === "not ready" ? 0 : 1),
    gauge("trivium_degraded", "1 where a dependency needs attention; /readyz says which.", status === "ready" ? 0 : 1),
    gauge("trivium_calls_in_flight", "Calls that were admitted and are not settled.", gateway.runningCalls),
    gauge("trivium_held_bytes", "What all calls hold of bodies and answers.", gateway.memory.held),
    ...ledgerFamilies(gateway),
    counter(
      "trivium_captures_dropped_total",
      "Calls whose bodies were to be kept and were not.",
      gateway.captures.dropped,
    ),
    ...providerFamilies(healthReport(snapshot, health, clock.nowMs())),
    budgetFamily(budgets),
    gauge("trivium_config_reload_success", "Whether the last reload was applied.", last?.ok === false ? 0 : 1),
    gauge(
      "trivium_config_reload_timestamp_seconds",
      "When the configuration was last read with success or without.",
      (last === undefined ? startedMs : Date.parse(last.at)) / 1000,
    ),
    gauge("trivium_config_models", "Models of the catalogue.", snapshot.catalogue.list().length),
  ];
}

/** Of projects and of the gateway; keys are too many for labels. */
function budgetFamily({ uses }: Parts["budgets"]): Family {
  const shown = uses.filter(({ level }) => level !== "key");
  return family(
    "gauge",
    "trivium_budget_used_ratio",
    "How much of a budget all instances have used; 1 is all of it.",
    shown.map(({ level, id, window, ratio }) => ({
      labels: { level, project: level === "project" ? id : "", period: window },
      value: ratio,
    })),
  );
}

const ledgerFamilies = ({ ledger }: Gateway): Family[] => [
  gauge("trivium_ledger_queue_rows", "Receipts that are not stored yet.", ledger.queued),
  gauge("trivium_ledger_oldest_seconds", "How long the first of them waits.", ledger.oldestMs / 1000),
  counter("trivium_ledger_failures_total", "Attempts to store receipts that failed.", ledger.failures),
  counter("trivium_ledger_lost_rows_total", "Receipts that could not be kept; the log has their amounts.", ledger.lost),
];

function providerFamilies(reports: readonly ProviderReport[]): Family[] {
  const breakers = reports.flatMap(({ provider, credentials }) =>
    credentials.flatMap(({ label, models }) =>
      models.map(({ model, state }) => ({
        labels: { provider, credential: label ?? "", model },
        value: BREAKER_STATES[state],
      })),
    ),
  );
  const up = reports.map(({ provider, credentials }) => {
    const models = credentials.flatMap((credential) => credential.models);
    const isDown = models.length > 0 && models.every(({ state }) => state === "open");
    return { labels: { provider }, value: isDown ? 0 : 1 };
  });
  return [
    family("gauge", "trivium_provider_up", "0 where every model that was called at it fails.", up),
    family("gauge", "trivium_breaker_state", "0 closed, 1 half open, 2 open; by the provider's own model.", breakers),
  ];
}
