import type { Alerts } from "../../alerts/alerts.ts";
import { type Family, family, gauge } from "../../telemetry/family.ts";

/** Deliveries by webhook. The series of configured webhooks exist from the start. */
export function alertFamilies({ settings, deliveries }: Pick<Alerts, "settings" | "deliveries">): Family[] {
  const counts = deliveries.list(settings.webhooks.map(({ name }) => name));
  return [
    family(
      "counter",
      "trivium_alert_deliveries_total",
      "Attempts to deliver an alert, by result: delivered, retried, or failed for good.",
      counts.map(({ webhook, outcome, count }) => ({ labels: { webhook, outcome }, value: count })),
    ),
    gauge(
      "trivium_alert_deliveries_waiting",
      "Alert deliveries that are pending, across all instances.",
      deliveries.waiting,
    ),
  ];
}
