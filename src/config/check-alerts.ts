import type { Config } from "./config.ts";
import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";

/** What is delivered is stored under the names of webhooks. */
export function checkAlerts({ alerts }: Pick<Config, "alerts">, root: MapNode, report: Report): void {
  const seen = new Set<string>();
  for (const { name } of alerts.webhooks) {
    if (seen.has(name)) {
      report(
        positionAt(root, ["alerts", "webhooks"]),
        `alerts.webhooks contains two webhooks with the name "${name}"; names must be unique`,
      );
    }
    seen.add(name);
  }
}
