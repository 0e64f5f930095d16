import { type Model, PRICE_NAMES, type Pricings, publisherOf } from "./model.ts";

/** The three model lists of contract 2.9. Every field is always there: an unknown value is 0, or the first day of Unix time. */

export function chatModelList(models: readonly Model[], nowMs: number) {
  return { object: "list" as const, data: models.map((model) => chatModelEntry(model, nowMs)) };
}

export function chatModelEntry(model: Model, nowMs: number) {
  return {
    id: model.id,
    object: "model" as const,
    display_name: displayName(model, nowMs),
    created: model.created === undefined ? 0 : Date.parse(model.created) / 1000,
    owned_by: publisherOf(model.id),
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    capabilities: { reasoning: model.reasoning },
    context_length: model.contextLength ?? 0,
    pricings: shownPricings(model.pricings),
  };
}

export function messagesModelList(models: readonly Model[], nowMs: number) {
  return { data: models.map((model) => messagesModelEntry(model, nowMs)), has_more: false };
}

export function messagesModelEntry(model: Model, nowMs: number) {
  return {
    id: model.id,
    type: "model" as const,
    display_name: displayName(model, nowMs),
    created_at: model.created ?? "1970-01-01",
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    capabilities: { reasoning: model.reasoning },
    context_length: model.contextLength ?? 0,
    pricings: shownPricings(model.pricings),
  };
}

export function genaiModelList(models: readonly Model[], nowMs: number) {
  return { models: models.map((model) => genaiModelEntry(model, nowMs)) };
}

export function genaiModelEntry(model: Model, nowMs: number) {
  return {
    name: model.id,
    displayName: displayName(model, nowMs),
    description: description(model, nowMs),
    inputTokenLimit: model.contextLength ?? 0,
    outputTokenLimit: model.maxOutputTokens ?? 0,
    thinking: model.reasoning,
    inputModalities: model.inputModalities,
    outputModalities: model.outputModalities,
    pricings: shownPricings(model.pricings),
  };
}

/** Contract 2.9 has no name for prompt tokens of images, and none for resolutions: such prices are not shown. */
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
  return `${model.displayName} (${isRetired(model.retiresOn, nowMs) ? "retired" : "retiring"} ${model.retiresOn})`;
}

function description(model: Model, nowMs: number): string {
  const sentences = [model.description ?? summary(model)];
  if (model.priceNote !== undefined) sentences.push(`Prices: ${model.priceNote}`);
  if (model.retiresOn !== undefined) {
    sentences.push(`${isRetired(model.retiresOn, nowMs) ? "Retired" : "Retiring"} on ${model.retiresOn}.`);
  }
  return sentences.join(" ");
}

function summary(model: Model): string {
  const reasoning = model.reasoning ? ", with reasoning" : "";
  return `${model.displayName} by ${publisherOf(model.id)}: ${model.inputModalities.join(", ")} in, ${model.outputModalities.join(", ")} out${reasoning}.`;
}

function isRetired(day: string, nowMs: number): boolean {
  return nowMs >= Date.parse(day);
}
