import { plainAddress } from "../base/ip-network.ts";
import { GatewayError } from "../canon/error.ts";
import { compileGlobs } from "./model-glob.ts";
import type { Principal } from "./principal.ts";

const MAX_PATTERNS_SHOWN = 10;
const MAX_NETWORKS_SHOWN = 10;

/** Patterns are compiled once for each key, and collected with it. */
const compiledModels = new WeakMap<readonly string[], (id: string) => boolean>();

export function allowsModel(principal: Principal, model: string): boolean {
  let allows = compiledModels.get(principal.models);
  if (allows === undefined) {
    allows = compileGlobs(principal.models);
    compiledModels.set(principal.models, allows);
  }
  return allows(model) && (principal.maker === undefined || allowsModel(principal.maker, model));
}

/** Refuses a call that the expiry, protocols or models of the key, or of its parent, do not allow. */
export function checkScopes(
  principal: Principal,
  call: { model: string; dialect: string; scope?: string | undefined },
  nowMs: number,
): void {
  const { expiresAtMs, maker } = principal;
  if (maker !== undefined) checkScopes(maker, call, nowMs);
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
    throw new GatewayError("unauthenticated", `This API key expired on ${new Date(expiresAtMs).toISOString()}.`);
  }
  checkProtocol(principal, call.dialect);
  const model = call.scope ?? call.model;
  if (!allowsModel(principal, model)) {
    const shown = principal.models.slice(0, MAX_PATTERNS_SHOWN).join(", ");
    const more = principal.models.length > MAX_PATTERNS_SHOWN ? ", …" : "";
    throw new GatewayError(
      "forbidden",
      `The key "${principal.keyName}" may not use the model ${model.slice(0, 200)}; it may use: ${shown}${more}.`,
      { path: "model" },
    );
  }
}

/** The origin of a request. */
export interface Caller {
  /** Read only if a key has networks. */
  readonly address: string;
  /**
   * The principal of the presented key. The key may be revoked, expired or not allowed here; refusals are counted by
   * it.
   */
  shown?: Principal | undefined;
}

/** Refuses a key that is used outside its networks, or those of its parent. */
export function checkCallerNetwork({ networks, keyName, maker }: Principal, caller: Caller): void {
  if (maker !== undefined) checkCallerNetwork(maker, caller);
  if (networks === undefined) return;
  const { address } = caller;
  if (networks.some((network) => network.has(address))) return;
  const shown = networks.slice(0, MAX_NETWORKS_SHOWN).map(({ text }) => text);
  const more = networks.length > shown.length ? ", …" : "";
  throw new GatewayError(
    "forbidden",
    `The key "${keyName}" may not be used from ${plainAddress(address) || "an unknown address"}; it may be used from: ${shown.join(", ")}${more}.`,
    { code: "network_not_allowed" },
  );
}

/** Whether a key, and its parent, may use one of these protocols. */
export function allowsProtocols({ protocols, maker }: Principal, dialects: readonly string[]): boolean {
  if (maker !== undefined && !allowsProtocols(maker, dialects)) return false;
  return protocols === undefined || protocols.some((protocol) => dialects.includes(protocol));
}

/** Refuses a protocol that the key does not allow. */
export function checkProtocol({ protocols, keyName, maker }: Principal, dialect: string): void {
  if (maker !== undefined) checkProtocol(maker, dialect);
  if (protocols === undefined || protocols.includes(dialect)) return;
  throw new GatewayError(
    "forbidden",
    `The key "${keyName}" may not use the ${dialect} protocol; it may use: ${protocols.join(", ")}.`,
  );
}
