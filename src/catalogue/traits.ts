import type { ModelTraits } from "../canon/traits.ts";
import { builtInModels } from "./built-in-models.ts";
import type { ModelFacts, Offer } from "./model.ts";

/** What is known of models by their names at their publishers: an id of the configuration may stand for one of them. */
const BY_NAME: ReadonlyMap<string, ModelFacts["traits"]> = new Map(
  builtInModels.map(({ upstreamModel, traits }) => [upstreamModel, traits]),
);

/** Some hosts put the publisher, or a word for models, before the name. */
const traitsByName = (upstreamModel: string): ModelFacts["traits"] =>
  BY_NAME.get(upstreamModel) ?? BY_NAME.get(upstreamModel.slice(upstreamModel.lastIndexOf("/") + 1));

/**
 * What a request for the model at that offer depends on. Of a model that only the configuration knows it is told by its name
 * upstream, or little is.
 */
export function traitsOf(model: ModelFacts, offer: Offer): ModelTraits {
  const maxOutputTokens = offer.maxOutputTokens ?? model.maxOutputTokens;
  const { reasoningForm, efforts, budget, ...others } = model.traits ?? traitsByName(offer.upstreamModel) ?? {};
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
