import type { ListedModel, ModelLists } from "../../canon/listed-model.ts";

export const modelLists: ModelLists = {
  list: (models) => ({ models: models.map(modelEntry) }),
  entry: modelEntry,
};

function modelEntry(model: ListedModel) {
  return {
    name: model.id,
    displayName: model.displayName,
    description: model.description,
    inputTokenLimit: model.contextLength ?? 0,
    outputTokenLimit: model.maxOutputTokens ?? 0,
    thinking: model.reasoning,
    inputModalities: model.inputModalities,
    outputModalities: model.outputModalities,
    pricings: model.pricings,
  };
}
