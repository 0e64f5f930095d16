import type { ListedModel, ListRequest, ModelLists } from "../../canon/listed-model.ts";

export const modelLists: ModelLists = {
  list: (models, { door }) => ({ object: "list", data: models.map((model) => entryAt(model, door)) }),
  entry: entryAt,
};

/** Contract 2.9 has no field for the day on which a model ends. */
function entryAt(model: ListedModel, door: ListRequest["door"]) {
  return door === "contract" ? modelEntry(model) : { ...modelEntry(model), shutdown_date: model.retiresOn ?? null };
}

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
