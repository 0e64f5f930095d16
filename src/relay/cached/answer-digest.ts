import { createHash } from "node:crypto";
import type { JsonObject } from "../../base/json.ts";
import type { Model, ModelFacts, Offer } from "../../catalogue/model.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import { normalJson } from "../../wire/normal-json.ts";

/** Everything besides the body that can change a response. */
export interface AnswerCircumstances {
  project: string;
  /** Of a key that shares nothing. */
  key: string | undefined;
  dialect: string;
  door: string;
  strict: boolean;
  /** From the URL and headers. */
  options: unknown;
  stream: boolean;
  model: ModelFacts;
  /** As in the response. */
  calledAs: string;
  offers: readonly Offer[];
  fallback: { readonly model: Model; readonly offers: readonly Offer[] } | undefined;
  routing: CallRouting;
  guards: string | undefined;
}

/** Changes if responses are stored in another way. */
const FORM = 1;

/** Equal only for requests that get the same response, up to what a model decides by chance. */
export function answerDigest(
  text: string,
  ignored: JsonObject,
  { model, fallback, offers, ...rest }: AnswerCircumstances,
): string {
  const circumstances = {
    ...rest,
    form: FORM,
    model: whatRequestsNeed(model),
    offers: offers.map(withoutPrices),
    fallback: fallback && { model: whatRequestsNeed(fallback.model), offers: fallback.offers.map(withoutPrices) },
  };
  const body = normalJson(text, new Set(Object.keys(ignored)));
  return createHash("sha256").update(JSON.stringify(circumstances)).update("\n").update(body).digest("hex");
}

/** What requests to a model are made from: an update of the catalogue may change it. */
function whatRequestsNeed({ id, contextLength, maxOutputTokens, reasoning, traits }: ModelFacts) {
  return { id, contextLength, maxOutputTokens, reasoning, traits };
}

/** An offer that was changed or removed in the configuration answers no further calls. */
function withoutPrices({
  pricings: _list,
  priceMultiples: _terms,
  toolPrices: _tools,
  weight: _weight,
  ...rest
}: Offer) {
  return rest;
}
