import type { BuiltInModel } from "./model.ts";
import file from "./models.json";
import type { ModelEntry } from "./models-schema.ts";

/** An entry of models.json as the rest of the program speaks of it. */
function toModel(entry: ModelEntry): BuiltInModel {
  return {
    id: entry.id,
    displayName: entry.display_name,
    upstreamModel: entry.upstream_model,
    kind: entry.kind,
    inputModalities: entry.input_modalities,
    outputModalities: entry.output_modalities,
    reasoning: entry.reasoning,
    pricings: entry.pricings,
    ...(entry.created === undefined ? {} : { created: entry.created }),
    ...(entry.retires_on === undefined ? {} : { retiresOn: entry.retires_on }),
    ...(entry.context_length === undefined ? {} : { contextLength: entry.context_length }),
    ...(entry.max_output_tokens === undefined ? {} : { maxOutputTokens: entry.max_output_tokens }),
    ...(entry.reasoning_effort === undefined ? {} : { reasoningEffort: entry.reasoning_effort }),
    ...(entry.adaptive_thinking === undefined ? {} : { adaptiveThinking: entry.adaptive_thinking }),
    ...(entry.rejects_sampling_params === undefined ? {} : { rejectsSamplingParams: entry.rejects_sampling_params }),
    ...(entry.price_note === undefined ? {} : { priceNote: entry.price_note }),
  };
}

/** The catalogue that comes with the program. A test holds models.json to its schema, so it is not checked again here. */
export const builtInModels: readonly BuiltInModel[] = (file.models as ModelEntry[]).map(toModel);
