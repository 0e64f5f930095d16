import { allowsModel, checkScopes } from "../../access/scopes.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Requirements } from "../../canon/offer-traits.ts";
import type { Part } from "../../canon/part.ts";
import type { AutoChoice } from "../../canon/preference.ts";
import { wantedAmount } from "../../canon/reasoning.ts";
import type { Usage } from "../../canon/usage.ts";
import type { Modality, Model, Offer } from "../../catalogue/model.ts";
import { priceCall } from "../../catalogue/price-call.ts";
import { askedTerms, namesOfTerms } from "../../dialects/reading/priced-fields.ts";
import { AUTO_MODEL, AUTO_PREFERENCES, type AutoOption, chooseModel } from "../../routing/auto.ts";
import type { Targets } from "../../routing/targets.ts";
import { usableCandidate } from "../../routing/usable-candidate.ts";
import type { Gateway } from "../gateway.ts";
import { hasTraits, lacksTraits } from "../require-traits.ts";
import { type FallbackModel, namedFallback, type ServedModel, type ServingCall } from "../settle/served-model.ts";

/** The response length that prices are compared by. */
const USUAL_OUTPUT = 1024;

/** A model that the gateway may choose. */
interface Available {
  readonly model: Model;
  readonly offers: readonly Offer[];
}

/** What the call needs of a model. */
interface Needs {
  readonly input: number;
  readonly output: number;
  readonly terms: readonly string[];
  readonly modalities: ReadonlySet<Modality>;
  readonly reasoning: boolean;
}

/** Chooses the model for `trivium/auto` (choices 6, 8). */
export function autoModel(call: ServingCall, gateway: Gateway): ServedModel {
  const choice = choiceOf(call);
  const available = availableModels(choice, call, gateway);
  const needs = needsOf(call);
  const fitting = available.filter(({ model }) => fits(model, needs));
  // Sizes are estimates: if no model seems large enough, one of them may still be.
  const options = (fitting.length > 0 ? fitting : available).map((one) => optionOf(one, needs, call, gateway));
  const { option, why, next } = chooseModel(options, choice, preferredModel(choice, call, gateway));
  const { model, offers } = option;
  const fallback = fallbackOf(model, next, call, gateway);
  return { model, offers, calledAs: model.id, notes: [], modelWhy: why, fallback };
}

const CONFIG = "model_routing_config";

function choiceOf({ routing: { auto } }: ServingCall): AutoChoice {
  if (auto === undefined) {
    const message = `${CONFIG} is required for the model ${AUTO_MODEL}; use {} to let it choose from all models.`;
    throw new GatewayError("invalid_request", message, { path: CONFIG });
  }
  if (auto.taskType !== "embedding") return auto;
  const path = `${CONFIG}.task_info.task_type`;
  const message = `${path} is "embedding", but this endpoint generates text; use "chat" or "completion". For embeddings, use POST /v1/embeddings.`;
  throw new GatewayError("invalid_request", message, { path });
}

/** The models that the call lists, or all eligible ones: those that the key may call and that produce text. */
function availableModels(choice: AutoChoice, call: ServingCall, gateway: Gateway): readonly Available[] {
  const { catalogue, targets } = gateway.snapshot;
  const { incoming, principal } = call;
  const listed: readonly Available[] =
    choice.availableModels?.map((name) => catalogue.resolve(name, incoming.naming)) ??
    catalogue
      .list()
      .filter((model) => !model.onlyByName)
      .map((model) => ({ model, offers: model.offers }));
  const served = listed.filter(
    ({ model, offers }) =>
      model.outputModalities.includes("text") && targets.serveText(offers.filter((offer) => isWanted(offer, call))),
  );
  const { require } = call.routing;
  const having = require === undefined ? served : served.filter((one) => hasTarget(one, require, targets));
  const allowed = having.filter(({ model }) => allowsModel(principal, model.id));
  if (allowed.length > 0) return allowed;
  if (require !== undefined && having.length < served.length) throw lacksTraits(undefined, require, principal, gateway);
  const [first] = served;
  if (first !== undefined) {
    checkScopes(principal, { model: first.model.id, dialect: incoming.dialect.name }, gateway.clock.wallMs());
  }
  const { providers } = call.routing.preference;
  const at = providers === undefined ? "" : ` at ${providers.join(", ")}`;
  const which = choice.availableModels === undefined ? "No model" : `None of ${choice.availableModels.join(", ")}`;
  throw new GatewayError("invalid_request", `${which} generates text${at}.`, { path: `${CONFIG}.available_models` });
}

/** Whether a model has an offer with the required traits. */
const hasTarget = ({ offers }: Available, require: Requirements, targets: Targets): boolean =>
  offers.some((offer) => targets.textOf(offer).some((target) => hasTraits(target, require)));

const isWanted = ({ provider }: Offer, { routing: { preference } }: ServingCall): boolean =>
  preference.providers === undefined || preference.providers.includes(provider);

function needsOf({ incoming: { dialect }, body }: ServingCall): Needs {
  const { requests, codec } = dialect;
  const reasoning = requests.reasoning(body);
  const amount = reasoning === undefined ? undefined : wantedAmount(reasoning);
  const modalities = new Set<Modality>();
  for (const { parts } of codec.decodeRequest(body).turns) for (const part of parts) addModalities(part, modalities);
  return {
    input: requests.estimateTokens(body),
    output: Math.min(requests.outputLimit(body) ?? USUAL_OUTPUT, USUAL_OUTPUT),
    terms: namesOfTerms(askedTerms(body, requests.pricedFields)),
    modalities,
    reasoning: amount !== undefined && amount !== "off",
  };
}

function addModalities(part: Part, modalities: Set<Modality>): void {
  if (part.type === "media") modalities.add(part.kind === "document" ? "file" : part.kind);
  else if (part.type === "tool-result") {
    for (const inner of part.content) if (inner.type === "media") addModalities(inner, modalities);
  }
}

const fits = ({ contextLength, inputModalities, reasoning }: Model, needs: Needs): boolean =>
  (contextLength === undefined || needs.input < contextLength) &&
  (reasoning || !needs.reasoning) &&
  [...needs.modalities].every((modality) => inputModalities.includes(modality));

function optionOf({ model, offers }: Available, needs: Needs, call: ServingCall, gateway: Gateway): AutoOption {
  const { clock, health, snapshot } = gateway;
  const context = { nowMs: clock.nowMs(), health, draw: 0 };
  const usage: Usage = { input: needs.input, output: Math.min(needs.output, model.maxOutputTokens ?? needs.output) };
  let costNanoUsd: number | undefined;
  let tokensPerSecond: number | undefined;
  let rests = true;
  for (const candidate of snapshot.targets.text(model, offers, call.incoming.dialect.name).list) {
    if (!isWanted(candidate.offer, call)) continue;
    const usable = usableCandidate(candidate, context, []);
    if (candidate.price !== undefined) {
      const cost = priceCall(usage, candidate.offer, needs.terms).costNanoUsd;
      costNanoUsd = Math.min(costNanoUsd ?? cost, cost);
    }
    if (usable === undefined) continue;
    rests = false;
    const speed = usable.tokensPerSecond ?? 0;
    if (speed > (tokensPerSecond ?? 0)) tokensPerSecond = speed;
  }
  return { model, offers, costNanoUsd, tokensPerSecond, rests };
}

/** A preference that is a model name was checked when the request was read. */
function preferredModel(
  { preference }: AutoChoice,
  { incoming }: ServingCall,
  { snapshot }: Gateway,
): Model | undefined {
  if (preference === undefined || AUTO_PREFERENCES.some((word) => word === preference)) return undefined;
  return snapshot.catalogue.resolve(preference, incoming.naming).model;
}

/** The named fallback or, unless the call wants none or another provider, the next best model. */
function fallbackOf(
  model: Model,
  next: AutoOption | undefined,
  call: ServingCall,
  gateway: Gateway,
): FallbackModel | undefined {
  const { fallback = "all" } = call.routing.preference;
  if (typeof fallback === "object" && "model" in fallback) return namedFallback(fallback, model, call, gateway);
  if (fallback !== "all" || next === undefined) return undefined;
  return { model: next.model, offers: next.offers, why: `next choice of ${AUTO_MODEL}: ${next.model.id}` };
}
