import type { Gateway } from "../../relay/gateway.ts";
import { healthReport, type ProviderReport } from "../../routing/health/health-report.ts";
import type { AdminConfig } from "../../server/admin/admin-config.ts";
import type { GatewayCondition } from "../../server/condition.ts";
import type { LiveSessions } from "../../server/live/live-sessions.ts";
import { counter, type Family, family, gauge } from "../../telemetry/family.ts";
import type { BudgetWatch } from "../watch-budgets.ts";

interface Parts {
  gateway: Gateway;
  live: Pick<LiveSessions, "open" | "turns">;
  condition: () => GatewayCondition;
  config: Pick<AdminConfig, "lastReload">;
  budgets: Pick<BudgetWatch, "uses">;
  /** Start time, by the wall clock. */
  startedMs: number;
}

const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const;

/** The current state of the gateway. Nothing is queried, so a dependency that hangs does not delay a scrape. */
export function gatewayFamilies({ gateway, live, condition, config, budgets, startedMs }: Parts): Family[] {
  const { clock, health, snapshot } = gateway;
  const { status } = condition();
  const last = config.lastReload;
  return [
    gauge("trivium_ready", "1 if the gateway accepts new calls.", status === "not ready" ? 0 : 1),
    gauge(
      "trivium_degraded",
      "1 if a dependency needs attention; see /readyz for details.",
      status === "ready" ? 0 : 1,
    ),
    gauge("trivium_calls_in_flight", "Calls that are admitted and not yet settled.", gateway.runningCalls),
    gauge("trivium_live_sessions", "Open live connections.", live.open),
    counter("trivium_live_turns_total", "Turns begun on live connections.", live.turns),
    ...tokenFamilies(gateway),
    gauge("trivium_held_bytes", "Memory used by the bodies and responses of all calls.", gateway.memory.held),
    ...ledgerFamilies(gateway),
    counter("trivium_captures_dropped_total", "Calls whose bodies could not be captured.", gateway.captures.dropped),
    ...providerFamilies(healthReport(snapshot, health, clock.nowMs())),
    budgetFamily(budgets),
    gauge("trivium_config_reload_success", "1 if the last configuration reload succeeded.", last?.ok === false ? 0 : 1),
    gauge(
      "trivium_config_reload_timestamp_seconds",
      "Time of the last configuration reload, successful or not.",
      (last === undefined ? startedMs : Date.parse(last.at)) / 1000,
    ),
    gauge("trivium_config_models", "Number of models in the catalogue.", snapshot.catalogue.list().length),
  ];
}

function tokenFamilies({ keys: { tokens } }: Gateway): Family[] {
  return [
    gauge("trivium_token_subjects", "Subjects of clients' tokens in memory.", tokens.tracked.subjects),
    gauge("trivium_known_tokens", "Clients' tokens whose signature need not be checked again.", tokens.tracked.tokens),
    counter("trivium_token_checks_total", "Clients' tokens whose signature was checked.", tokens.checked),
  ];
}

/** Only of projects and of the gateway: there are too many keys for labels. */
function budgetFamily({ uses }: Parts["budgets"]): Family {
  const shown = uses.filter(({ level }) => level !== "key");
  return family(
    "gauge",
    "trivium_budget_used_ratio",
    "Share of a budget that all instances have used, where 1 is the whole budget.",
    shown.map(({ level, id, window, ratio }) => ({
      labels: { level, project: level === "project" ? id : "", period: window },
      value: ratio,
    })),
  );
}

const ledgerFamilies = ({ ledger }: Gateway): Family[] => [
  gauge("trivium_ledger_queue_rows", "Receipts waiting to be stored.", ledger.queued),
  gauge("trivium_ledger_oldest_seconds", "Age of the oldest receipt waiting to be stored.", ledger.oldestMs / 1000),
  counter("trivium_ledger_failures_total", "Failed attempts to store receipts.", ledger.failures),
  counter("trivium_ledger_lost_rows_total", "Receipts that were lost; the log has their amounts.", ledger.lost),
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
    family("gauge", "trivium_provider_up", "0 if all models called at this provider are failing.", up),
    family(
      "gauge",
      "trivium_breaker_state",
      "Circuit breaker state by the provider's model: 0 closed, 1 half open, 2 open.",
      breakers,
    ),
  ];
}
