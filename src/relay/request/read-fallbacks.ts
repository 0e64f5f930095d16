import { checkScopes } from "../../access/scopes.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Model } from "../../catalogue/model.ts";
import type { FallbackChain } from "../../dialects/request/model-fallbacks.ts";
import type { Gateway } from "../gateway.ts";
import type { ServingCall } from "../settle/served-model.ts";

/**
 * The models that a request names to answer if the requested one declines; undefined if it names none. Throws before anything is
 * sent if one of them does not exist, does not write text, or is not allowed for the key (S05).
 */
export function readFallbacks({ incoming, principal, body }: ServingCall, gateway: Gateway): FallbackChain | undefined {
  const { dialect } = incoming;
  const chain = dialect.fallbacks?.read(body);
  if (chain === undefined) return undefined;
  for (const { model: name, path } of chain.entries) {
    const model = find(name, path, incoming, gateway);
    checkScopes(principal, { model: model.id, dialect: dialect.name }, gateway.clock.wallMs());
    if (!model.outputModalities.includes("text")) {
      const message = `${path} is ${model.id}, which does not generate text; name a model that does.`;
      throw new GatewayError("invalid_request", message, { path });
    }
  }
  return chain;
}

/** An unknown name in an option is an invalid request, because the requested model was found. */
function find(name: string, path: string, { naming }: ServingCall["incoming"], { snapshot }: Gateway): Model {
  try {
    return snapshot.catalogue.resolve(name, naming).model;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    throw new GatewayError("invalid_request", `${path}: ${thrown.message}`, { path });
  }
}
