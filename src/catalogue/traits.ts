import type { ModelTraits } from "../canon/traits.ts";
import type { ModelFacts, Offer } from "./model.ts";

/** What a request for the model at that offer depends on. Of a model that only the configuration knows, little is said. */
export function traitsOf(model: ModelFacts, offer: Offer): ModelTraits {
  const maxOutputTokens = offer.maxOutputTokens ?? model.maxOutputTokens;
  const { reasoningForm, efforts, budget, ...others } = model.traits ?? {};
  const limit = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  // Configuration may say of a known model that it does not reason: its amounts then mean nothing.
  if (!model.reasoning) return { reasoning: false, ...others, ...limit };
  return {
    reasoning: true,
    ...(reasoningForm === undefined ? {} : { reasoningForm }),
    ...(efforts === undefined ? {} : { efforts }),
    ...(budget === undefined ? {} : { budget }),
    ...others,
    ...limit,
  };
}
