import { createHash } from "node:crypto";
import type { JsonObject } from "../../base/json.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
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
  model: string;
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
  { fallback, offers, ...rest }: AnswerCircumstances,
): string {
  const circumstances = {
    ...rest,
    form: FORM,
    offers: offers.map(withoutPrices),
    fallback: fallback && { model: fallback.model.id, offers: fallback.offers.map(withoutPrices) },
  };
  const body = normalJson(text, new Set(Object.keys(ignored)));
  return createHash("sha256").update(JSON.stringify(circumstances)).update("\n").update(body).digest("hex");
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
