import { withoutAbsent } from "../base/without-absent.ts";
import type { ListedModel } from "../canon/listed-model.ts";
import { discountedPrice } from "./discounted.ts";
import { type Modality, type Model, PRICE_NAMES, type Pricings, publisherOf } from "./model.ts";
import { isFree, neededNames } from "./price-table.ts";

/** A model as the model lists of contract 2.9 show it. */
export function listedModel(
  model: Model,
  { contractWords = false, discounts }: { contractWords?: boolean; discounts?: ProjectDiscounts | undefined } = {},
): ListedModel {
  const { created, contextLength, maxOutputTokens, retiresOn } = model;
  const words = (modalities: readonly Modality[]) => (contractWords ? modalities.flatMap(contractWord) : modalities);
  return {
    id: model.id,
    publisher: publisherOf(model.id),
    displayName: displayName(model),
    description: description(model),
    ...withoutAbsent({ created }),
    inputModalities: words(model.inputModalities),
    outputModalities: words(model.outputModalities),
    reasoning: model.reasoning,
    ...withoutAbsent({ contextLength, maxOutputTokens }),
    ...withoutAbsent({ retiresOn }),
    pricings: paidPricings(model, discounts),
  };
}

const CONTRACT_WORDS: ReadonlySet<Modality> = new Set(["text", "image", "video", "audio", "file"]);

/** Contract 2.9 has five words: a transcript is text, and it has none for vectors, rankings and judgements. */
function contractWord(modality: Modality): Modality[] {
  if (modality === "transcription") return ["text"];
  return CONTRACT_WORDS.has(modality) ? [modality] : [];
}

/** What a project pays less, in basis points. */
export interface ProjectDiscounts {
  of(model: string, provider: string): number;
}

/**
 * What the caller pays at the model's first offer, its discount included. Contract 2.9 has no names for prompt tokens of images and for
 * resolutions, so such prices are not shown. Of a free model only the prices are shown that its calls need.
 */
export function paidPricings({ id, kind, offers: [offer] }: Model, discounts?: ProjectDiscounts): Pricings {
  if (offer === undefined) return {};
  const discount = discounts?.of(id, offer.provider) ?? 0;
  const needed = isFree(kind, offer) ? neededNames(kind) : undefined;
  const paid: Pricings = {};
  for (const name of PRICE_NAMES) {
    const listed = offer.pricings[name]?.filter(({ resolution }) => resolution === undefined) ?? [];
    if (listed.length === 0 || (needed?.has(name) === false && listed.every(({ value }) => value === 0))) continue;
    paid[name] =
      discount === 0 ? listed : listed.map((item) => ({ ...item, value: discountedPrice(item.value, discount) }));
  }
  return paid;
}

/** Contract 9: entries may be labelled as retiring. */
function displayName({ displayName: name, retiresOn }: Model): string {
  return retiresOn === undefined ? name : `${name} (retiring ${retiresOn})`;
}

function description(model: Model): string {
  const sentences = [model.description ?? summary(model)];
  if (model.priceNote !== undefined) sentences.push(`Prices: ${model.priceNote}`);
  if (model.retiresOn !== undefined) {
    const next = model.replacedBy === undefined ? "" : `; ${model.replacedBy} takes its place`;
    sentences.push(`Retiring on ${model.retiresOn}${next}.`);
  }
  return sentences.join(" ");
}

function summary(model: Model): string {
  const reasoning = model.reasoning ? ", with reasoning" : "";
  return `${model.displayName} by ${publisherOf(model.id)}: ${model.inputModalities.join(", ")} in, ${model.outputModalities.join(", ")} out${reasoning}.`;
}
