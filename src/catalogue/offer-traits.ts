import { withoutAbsent } from "../base/without-absent.ts";
import type { ModelTraits } from "../canon/traits.ts";
import { builtInModels } from "./built-in-models.ts";
import type { ModelFacts, Offer } from "./model.ts";

/** Traits by the publisher's own name of a model: a configured id may stand for one of them. */
const BY_NAME: ReadonlyMap<string, ModelFacts["traits"]> = new Map(
  builtInModels.map(({ upstreamModel, traits }) => [upstreamModel, traits]),
);

/** Some hosts put the publisher, or a word for models, in front of the name. */
const traitsByName = (upstreamModel: string): ModelFacts["traits"] =>
  BY_NAME.get(upstreamModel) ?? BY_NAME.get(upstreamModel.slice(upstreamModel.lastIndexOf("/") + 1));

/**
 * The traits of a model at an offer, which requests depend on. Those of a model that only the configuration knows are found
 * by its upstream name, where that is known.
 */
export function traitsOf(model: ModelFacts, offer: Offer): ModelTraits {
  const maxOutputTokens = offer.maxOutputTokens ?? model.maxOutputTokens;
  const { reasoningForm, efforts, budget, ...others } = model.traits ?? traitsByName(offer.upstreamModel) ?? {};
  const limit = withoutAbsent({ maxOutputTokens });
  // A known model may be configured not to reason; its efforts are then ignored.
  if (!model.reasoning) return { reasoning: false, ...others, ...limit };
  return {
    reasoning: true,
    ...withoutAbsent({ reasoningForm, efforts, budget }),
    ...others,
    ...limit,
  };
}
