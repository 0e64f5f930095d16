import { checkScopes } from "../../access/scopes.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Model } from "../../catalogue/model.ts";
import type { FallbackChain, FallbackModelEntry } from "../../dialects/request/model-fallbacks.ts";
import type { Gateway } from "../gateway.ts";
import type { ServedModel, ServingCall } from "../settle/served-model.ts";

type Named = Pick<FallbackModelEntry, "model" | "path">;

/**
 * The models that a request names to answer if the requested one declines; undefined if it names none. These, and models that a
 * host calls for the request, are checked before anything is sent: they must exist, write text and be allowed for the key (S05).
 */
export function readFallbacks(call: ServingCall, served: ServedModel, gateway: Gateway): FallbackChain | undefined {
  const { dialect } = call.incoming;
  const chain = dialect.fallbacks?.read(call.body, served.fallback?.model.id);
  for (const named of dialect.requests.namedModels?.(call.body) ?? NONE) checkModel(named, call, gateway);
  for (const entry of chain?.entries ?? NONE) checkModel(entry, call, gateway);
  return chain;
}

const NONE: readonly never[] = [];

function checkModel({ model: name, path }: Named, { incoming, principal }: ServingCall, gateway: Gateway): void {
  const model = find(name, path, incoming, gateway);
  checkScopes(principal, { model: model.id, dialect: incoming.dialect.name }, gateway.clock.wallMs());
  if (model.outputModalities.includes("text")) return;
  const message = `${path} is ${model.id}, which does not generate text; name a model that does.`;
  throw new GatewayError("invalid_request", message, { path });
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
