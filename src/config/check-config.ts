import { isLoopback } from "../base/address-class.ts";
import { checkGuards } from "./check-guards.ts";
import type { Config } from "./config.ts";
import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";

/** Checks that span several fields. Defaults are filled in by now, so that a field that is left out counts too. */
export function checkConfig(
  config: Pick<Config, "server" | "admin" | "alerts" | "exports" | "auth" | "guards">,
  root: MapNode,
  report: Report,
): void {
  checkListeners(config, root, report);
  checkMemory(config, root, report);
  checkAlerts(config, root, report);
  checkExports(config, root, report);
  checkGuards(config, root, report);
  checkSecrets(config, root, report);
  checkOidc(config, root, report);
  checkTokenIssuers(config, root, report);
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

/** The progress of an export is stored under its name, and readers tell the files of a folder apart by their ends. */
function checkExports({ exports }: Pick<Config, "exports">, root: MapNode, report: Report): void {
  for (const [index, { name, to, format }] of exports.entries()) {
    const others = exports.slice(0, index);
    if (others.some((other) => other.to === to && other.format === format)) {
      const message = `exports[${index}] has the same destination and format as an earlier export`;
      report(positionAt(root, ["exports", index, "to"]), message);
    } else if (others.some((other) => other.name === name)) {
      const message = `exports contains two exports with the name "${name}"; set a different name for one of them`;
      report(positionAt(root, ["exports", index]), message);
    }
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

/** The whole name counts: 127.0.0.1.example.com is anywhere. */
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const isIssuer = (url: string) => url.startsWith("https:") || LOOPBACK_HOST.test(new URL(url).hostname);
const NOT_AN_ISSUER = "must be an https URL, or http on loopback";

function checkOidc({ admin: { oidc } }: Pick<Config, "admin">, root: MapNode, report: Report): void {
  if (oidc === undefined) return;
  if (!isIssuer(oidc.issuer))
    report(positionAt(root, ["admin", "oidc", "issuer"]), `admin.oidc.issuer ${NOT_AN_ISSUER}`);
  oidc.roles.forEach(({ role, project }, index) => {
    if ((role === "project") === (project !== undefined)) return;
    const what =
      role === "project" ? "requires project" : `cannot have project: the role ${role} can access all of them`;
    report(positionAt(root, ["admin", "oidc", "roles", index]), `admin.oidc.roles[${index}] ${what}`);
  });
}

/** The subjects of one issuer have one set of limits. */
function checkTokenIssuers({ auth }: Pick<Config, "auth">, root: MapNode, report: Report): void {
  const seen = new Set<string>();
  auth.jwt.forEach(({ issuer, project, projectClaim, algorithms = [], secret, jwksUrl }, index) => {
    const at = (field: string, message: string) =>
      report(positionAt(root, ["auth", "jwt", index, field]), `auth.jwt[${index}]${message}`);
    if (!isIssuer(issuer)) at("issuer", `.issuer ${NOT_AN_ISSUER}`);
    if (jwksUrl !== undefined && !isIssuer(jwksUrl)) at("jwks_url", `.jwks_url ${NOT_AN_ISSUER}`);
    if (seen.has(issuer)) at("issuer", ".issuer must be unique: the subjects of one issuer have one set of limits");
    seen.add(issuer);
    if ((project === undefined) === (projectClaim === undefined)) at("", " requires either project or project_claim");
    const shared = algorithms.filter((one) => one.startsWith("HS"));
    if (shared.length > 0 && shared.length < algorithms.length)
      at("algorithms", ".algorithms must not mix HMAC with other algorithms: a public key could be taken for a secret");
    if (shared.length > 0 && secret === undefined) at("algorithms", " requires secret for HMAC algorithms");
    if (shared.length === 0 && secret !== undefined)
      at("secret", ".secret is only for HMAC: name an algorithm such as HS256");
  });
}
