import { checkGuards } from "./check-guards.ts";
import type { Config } from "./config.ts";
import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";

/** Checks that span several fields. Defaults are filled in by now, so that a field that is left out counts too. */
export function checkConfig(
  config: Pick<Config, "server" | "admin" | "alerts" | "guards">,
  root: MapNode,
  report: Report,
): void {
  checkListeners(config, root, report);
  checkMemory(config, root, report);
  checkAlerts(config, root, report);
  checkGuards(config, root, report);
  checkSecrets(config, root, report);
}

/** Clients and operators need separate ports. */
function checkListeners({ server, admin }: Pick<Config, "server" | "admin">, root: MapNode, report: Report): void {
  if (server.port === 0 || server.port !== admin.port || server.host !== admin.host) return;
  const section = root.entries.get("admin")?.node;
  const written = section?.kind === "map" && section.entries.has("port") ? "admin" : "server";
  report(
    positionAt(root, [written, "port"]),
    "server.port and admin.port must be different when both listen on the same host",
  );
}

/** Deliveries are stored under the names of webhooks. */
function checkAlerts({ alerts }: Pick<Config, "alerts">, root: MapNode, report: Report): void {
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

const BYTES_PER_MEGABYTE = 1024 * 1024;

/** The largest allowed body must fit into the memory for calls, of which one key may hold half. */
function checkMemory({ server }: Pick<Config, "server">, root: MapNode, report: Report): void {
  if (server.memoryBytes >= 2 * server.maxBodyBytes) return;
  const largest = server.maxBodyBytes / BYTES_PER_MEGABYTE;
  report(
    positionAt(root, ["server", "memory_mb"]),
    `server.memory_mb must be at least twice server.max_body_mb, which is ${largest}; one key may hold half of it`,
  );
}

const AT_HOME = 16;
const ELSEWHERE = 32;

/** The admin secret gives access to everything, so it must not be guessable (S21). */
function checkSecrets({ admin }: Pick<Config, "admin">, root: MapNode, report: Report): void {
  if (admin.secret === undefined) return;
  const { length } = admin.secret.reveal();
  const least = isLoopback(admin.host) ? AT_HOME : ELSEWHERE;
  if (length >= least) return;
  const where = least === AT_HOME ? "" : ` when admin.host is ${admin.host}`;
  report(
    positionAt(root, ["admin", "secret"]),
    `admin.secret must have at least ${least} characters${where}; generate one with "openssl rand -hex 24"`,
  );
}

const isLoopback = (host: string) => /^(127\.|localhost$|\[?::1\]?$)/i.test(host);
