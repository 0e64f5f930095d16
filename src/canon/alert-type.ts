/** Events that a webhook can report to operators. */
export const ALERT_TYPES = [
  "budget.threshold",
  "spend.unpriced",
  "model.retiring",
  "batch.failed",
  "export.failed",
  "provider.credential",
  "provider.down",
  "provider.up",
  "model.down",
  "model.up",
  "gateway.degraded",
  "gateway.recovered",
  "errors.high",
  "errors.normal",
] as const;

export type AlertType = (typeof ALERT_TYPES)[number];
