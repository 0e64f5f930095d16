import { Secret } from "../base/secret.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { AlertSettings, WebhookSettings } from "./config.ts";
import type { RootFile } from "./schema.ts";

type AlertsFile = NonNullable<RootFile["alerts"]>;

const BUDGET_PERCENT = [50, 80, 100];
const RETRY_HOURS = 24;
const ERROR_PERCENT = 50;
const ERROR_MINUTES = 10;
const ERROR_MIN_CALLS = 20;

export function toAlerts(file: AlertsFile = {}): AlertSettings {
  return {
    webhooks: toWebhooks(file.webhooks ?? []),
    budgetPercent: [...new Set(file.budget_percent ?? BUDGET_PERCENT)].sort((one, other) => one - other),
    providerDown: file.provider_down ?? true,
    gatewayDegraded: file.gateway_degraded ?? true,
    errors: {
      percent: file.error_percent ?? ERROR_PERCENT,
      minutes: file.error_minutes ?? ERROR_MINUTES,
      minCalls: file.error_min_calls ?? ERROR_MIN_CALLS,
    },
    retryHours: file.retry_hours ?? RETRY_HOURS,
  };
}

/** A webhook without a name is named after its host, with a number from the second on. */
function toWebhooks(files: NonNullable<AlertsFile["webhooks"]>): WebhookSettings[] {
  const names = new Set(files.flatMap(({ name }) => name ?? []));
  return files.map(({ name, url, secret, events }) => ({
    name: name ?? freeName(new URL(url).host, names),
    url: new Secret(url),
    ...withoutAbsent({ secret: secret === undefined ? undefined : new Secret(secret), events }),
  }));
}

function freeName(host: string, taken: Set<string>): string {
  let name = host;
  for (let count = 2; taken.has(name); count++) name = `${host}-${count}`;
  taken.add(name);
  return name;
}
