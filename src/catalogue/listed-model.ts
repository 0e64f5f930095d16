import { withoutAbsent } from "../base/without-absent.ts";
import type { ListedModel } from "../canon/listed-model.ts";
import { isRetired } from "./is-retired.ts";
import { type Modality, type Model, PRICE_NAMES, type Pricings, publisherOf } from "./model.ts";

/** A model as the model lists of contract 2.9 show it. */
export function listedModel(
  model: Model,
  nowMs: number,
  { contractWords }: { contractWords: boolean } = { contractWords: false },
): ListedModel {
  const { created, contextLength, maxOutputTokens, retiresOn } = model;
  const words = (modalities: readonly Modality[]) => (contractWords ? modalities.flatMap(contractWord) : modalities);
  return {
    id: model.id,
    publisher: publisherOf(model.id),
    displayName: displayName(model, nowMs),
    description: description(model, nowMs),
    ...withoutAbsent({ created }),
    inputModalities: words(model.inputModalities),
    outputModalities: words(model.outputModalities),
    reasoning: model.reasoning,
    ...withoutAbsent({ contextLength, maxOutputTokens }),
    ...(retiresOn === undefined ? {} : { retiresOn, retired: isRetired(model, nowMs) }),
    pricings: shownPricings(model.pricings),
  };
}

const CONTRACT_WORDS: ReadonlySet<Modality> = new Set(["text", "image", "video", "audio", "file"]);

/** Contract 2.9 has five words: a transcript is text, and it has none for vectors, rankings and judgements. */
function contractWord(modality: Modality): Modality[] {
  if (modality === "transcription") return ["text"];
  return CONTRACT_WORDS.has(modality) ? [modality] : [];
}

/** Contract 2.9 has no names for prompt tokens of images and for resolutions, so such prices are not shown. */
function shownPricings(pricings: Pricings): Pricings {
  const shown: Pricings = {};
  for (const name of PRICE_NAMES) {
    const items = pricings[name]?.filter((item) => item.resolution === undefined) ?? [];
    if (items.length > 0) shown[name] = items;
  }
  return shown;
}

/** Contract 9: entries may be labelled as retiring. */
function displayName(model: Model, nowMs: number): string {
  if (model.retiresOn === undefined) return model.displayName;
  return `${model.displayName} (${isRetired(model, nowMs) ? "retired" : "retiring"} ${model.retiresOn})`;
}

function description(model: Model, nowMs: number): string {
  const sentences = [model.description ?? summary(model)];
  if (model.priceNote !== undefined) sentences.push(`Prices: ${model.priceNote}`);
  if (model.retiresOn !== undefined) {
    sentences.push(`${isRetired(model, nowMs) ? "Retired" : "Retiring"} on ${model.retiresOn}.`);
  }
  return sentences.join(" ");
}

function summary(model: Model): string {
  const reasoning = model.reasoning ? ", with reasoning" : "";
  return `${model.displayName} by ${publisherOf(model.id)}: ${model.inputModalities.join(", ")} in, ${model.outputModalities.join(", ")} out${reasoning}.`;
}
