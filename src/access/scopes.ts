import { GatewayError } from "../canon/error.ts";
import { compileGlobs } from "./model-glob.ts";
import type { Principal } from "./principal.ts";

const MAX_PATTERNS_SHOWN = 10;

/** Patterns are taken apart once for each key, and forgotten with it. */
const compiledModels = new WeakMap<readonly string[], (id: string) => boolean>();

export function allowsModel(principal: Principal, model: string): boolean {
  let allows = compiledModels.get(principal.models);
  if (allows === undefined) {
    allows = compileGlobs(principal.models);
    compiledModels.set(principal.models, allows);
  }
  return allows(model);
}

/** Refuses a call that the key's expiry, protocols or models do not allow. */
export function checkScopes(principal: Principal, call: { model: string; dialect: string }, nowMs: number): void {
  const { expiresAtMs } = principal;
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
    throw new GatewayError("unauthenticated", `This API key expired on ${new Date(expiresAtMs).toISOString()}.`);
  }
  checkProtocol(principal, call.dialect);
  if (!allowsModel(principal, call.model)) {
    const shown = principal.models.slice(0, MAX_PATTERNS_SHOWN).join(", ");
    const more = principal.models.length > MAX_PATTERNS_SHOWN ? ", …" : "";
    throw new GatewayError(
      "forbidden",
      `The key "${principal.keyName}" may not use the model ${call.model.slice(0, 200)}; it may use: ${shown}${more}.`,
      { path: "model" },
    );
  }
}

/** Refuses what a key asks in a protocol that it is not made for. */
export function checkProtocol({ protocols, keyName }: Principal, dialect: string): void {
  if (protocols === undefined || protocols.includes(dialect)) return;
  throw new GatewayError(
    "forbidden",
    `The key "${keyName}" may not use the ${dialect} protocol; it is made for ${protocols.join(", ")}.`,
  );
}
