import { GatewayError } from "../canon/error.ts";
import type { AutoChoice, Fallback } from "../canon/preference.ts";
import type { AskedRouting } from "../canon/routing-settings.ts";
import type { Catalogue, Naming } from "../catalogue/catalogue.ts";
import type { Model } from "../catalogue/model.ts";
import type { RoutingPaths } from "../dialects/reading/read-routing.ts";
import { AUTO_PREFERENCES } from "./auto.ts";

/** What names in a request can refer to. */
export interface KnownNames {
  catalogue: Catalogue;
  providers: { has(name: string): boolean; keys(): Iterable<string> };
  /** How the call's door resolves model names. */
  naming: Naming;
  /** Throws if the key may not call the model. */
  mayCall: (model: string) => void;
}

/**
 * Rejects unknown names and resolves the others. The plan decides whether they serve the model. `model` is the requested one;
 * undefined if the gateway chooses.
 */
export function checkNames(
  asked: AskedRouting,
  paths: RoutingPaths,
  model: Model | undefined,
  names: KnownNames,
): AskedRouting {
  const { preference, auto } = asked;
  preference.providers?.forEach((provider, index) => {
    if (!names.providers.has(provider)) throw unknownProvider(`${paths.providers}[${index}]`, provider, names);
  });
  const fallback = preference.fallback && checkFallback(preference.fallback, paths.fallback, model, names);
  if (auto !== undefined) checkAuto(auto, paths.auto, names);
  return fallback === preference.fallback ? asked : { ...asked, preference: { ...preference, fallback } };
}

function checkFallback(fallback: Fallback, path: string, model: Model | undefined, names: KnownNames): Fallback {
  if (typeof fallback === "string") return fallback;
  if ("provider" in fallback) {
    const { provider } = fallback;
    if (names.providers.has(provider)) return fallback;
    // It may be an alias, or a vendor's name of a model.
    const meant = find(provider, names);
    if (meant === undefined) throw unknownProvider(path, provider, names, " or model");
  }
  const name = "model" in fallback ? fallback.model : fallback.provider;
  const found = resolve(name, path, names);
  if (found.id === model?.id) {
    const message = `${path} is ${model.id}, the requested model itself; use another model or a provider, or leave it out.`;
    throw new GatewayError("invalid_request", message, { path });
  }
  names.mayCall(found.id);
  return { model: name };
}

function checkAuto({ availableModels, preference }: AutoChoice, path: string, names: KnownNames): void {
  const available = availableModels?.map(
    (name, index) => resolve(name, `${path}.available_models[${index}]`, names).id,
  );
  if (preference === undefined || AUTO_PREFERENCES.some((word) => word === preference)) return;
  const at = `${path}.preference`;
  const meant = find(preference, names)?.id;
  if (meant !== undefined && (available === undefined || available.includes(meant))) return;
  const words = AUTO_PREFERENCES.join(", ");
  const models = availableModels === undefined ? "a model from the model list" : availableModels.join(", ");
  const message = `${at} is ${JSON.stringify(preference.slice(0, 100))}; it must be one of ${words}, or ${models}.`;
  throw new GatewayError("invalid_request", message, { path: at });
}

function find(name: string, { catalogue, naming }: KnownNames): Model | undefined {
  try {
    return catalogue.resolve(name, naming).model;
  } catch {
    return undefined;
  }
}

/** An unknown name in an option is an invalid request, because the requested model was found. */
function resolve(name: string, path: string, { catalogue, naming }: KnownNames): Model {
  try {
    return catalogue.resolve(name, naming).model;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    throw new GatewayError("invalid_request", `${path}: ${thrown.message}`, { path });
  }
}

function unknownProvider(path: string, name: string, { providers }: KnownNames, also = ""): GatewayError {
  const known = [...providers.keys()].join(", ");
  const message = `${path} is ${JSON.stringify(name.slice(0, 100))}, which is not a configured provider${also}; configured providers are ${known}.`;
  return new GatewayError("invalid_request", message, { path });
}
