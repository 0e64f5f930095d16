import { readNetwork } from "../base/ip-network.ts";
import { PROTOCOL_NAMES } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";

const MAX_PATTERNS = 100;
const MAX_PATTERN_LENGTH = 200;
const MAX_NETWORKS = 100;

/** Lets a key create keys that can do no more than itself. */
export const CREATE_KEYS = "keys:create";

/** What a key may do in addition to calling models. */
export const KEY_SCOPES = [CREATE_KEYS] as const;

export function checkExpiry(expiresAtMs: number | undefined, nowMs: number): void {
  if (expiresAtMs === undefined || expiresAtMs > nowMs) return;
  throw new GatewayError("invalid_request", "`expires_at` must be in the future.", { path: "expires_at" });
}

export function checkModels(patterns: readonly string[]): readonly string[] {
  const fits = patterns.every((pattern) => pattern !== "" && pattern.length <= MAX_PATTERN_LENGTH);
  if (!fits || patterns.length === 0 || patterns.length > MAX_PATTERNS) {
    const message = `\`models\` must have 1 to ${MAX_PATTERNS} model ids or patterns of at most ${MAX_PATTERN_LENGTH} characters; \`*\` matches every model.`;
    throw new GatewayError("invalid_request", message, { path: "models" });
  }
  return patterns;
}

export function checkProtocols(protocols: readonly string[]): readonly string[] {
  const known = PROTOCOL_NAMES.filter((name) => protocols.includes(name));
  if (protocols.length === 0 || !protocols.every((name) => known.some((dialect) => dialect === name))) {
    const message = `\`protocols\` must have one or more of ${PROTOCOL_NAMES.join(", ")}; omit it to allow all of them.`;
    throw new GatewayError("invalid_request", message, { path: "protocols" });
  }
  return known;
}

/** Returns the stored form, each with its prefix length. */
export function checkKeyNetworks(networks: readonly string[]): readonly string[] {
  if (networks.length === 0 || networks.length > MAX_NETWORKS) {
    const message = `\`networks\` must have 1 to ${MAX_NETWORKS} networks; omit it to allow all of them.`;
    throw new GatewayError("invalid_request", message, { path: "networks" });
  }
  return networks.map((written, index) => {
    const network = readNetwork(written);
    if (network !== undefined) return network.text;
    const message = `\`networks[${index}]\` must be an IP address or a network such as 10.0.0.0/8 or 2001:db8::/32.`;
    throw new GatewayError("invalid_request", message, { path: `networks[${index}]` });
  });
}

export function checkKeyScopes(scopes: readonly string[]): readonly string[] {
  const unknown = scopes.find((scope) => !KEY_SCOPES.some((known) => known === scope));
  if (unknown === undefined) return [...new Set(scopes)];
  const message = `\`scopes\` has the unknown scope "${unknown.slice(0, 100)}"; expected one of ${KEY_SCOPES.join(", ")}.`;
  throw new GatewayError("invalid_request", message, { path: "scopes" });
}
