import type { Alerts } from "../../alerts/alerts.ts";
import { type Family, family, gauge } from "../../telemetry/family.ts";

/** Whether webhooks take what they are told. Those of the configuration are there from the start. */
export function alertFamilies({ settings, deliveries }: Pick<Alerts, "settings" | "deliveries">): Family[] {
  const counts = deliveries.list(settings.webhooks.map(({ name }) => name));
  return [
    family(
      "counter",
      "trivium_alert_deliveries_total",
      "Tries to deliver an alert: delivered, retried where another follows, failed where none does.",
      counts.map(({ webhook, outcome, count }) => ({ labels: { webhook, outcome }, value: count })),
    ),
    gauge(
      "trivium_alert_deliveries_waiting",
      "Deliveries that no webhook has taken yet, of all instances.",
      deliveries.waiting,
    ),
  ];
}
