import type { ListedModel, ModelLists } from "../../canon/listed-model.ts";

export const modelLists: ModelLists = {
  list: (models) => ({ object: "list", data: models.map(modelEntry) }),
  entry: modelEntry,
};

export function modelEntry(model: ListedModel) {
  return {
    id: model.id,
    object: "model",
    display_name: model.displayName,
    created: model.created === undefined ? 0 : Date.parse(model.created) / 1000,
    owned_by: model.publisher,
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    capabilities: { reasoning: model.reasoning },
    context_length: model.contextLength ?? 0,
    pricings: model.pricings,
  };
}
