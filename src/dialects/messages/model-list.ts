import type { ListedModel, ModelLists } from "../../canon/listed-model.ts";

export const modelLists: ModelLists = {
  list: (models) => ({ data: models.map(modelEntry), has_more: false }),
  entry: modelEntry,
};

function modelEntry(model: ListedModel) {
  return {
    id: model.id,
    type: "model",
    display_name: model.displayName,
    created_at: model.created ?? "1970-01-01",
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    capabilities: { reasoning: model.reasoning },
    context_length: model.contextLength ?? 0,
    pricings: model.pricings,
  };
}
