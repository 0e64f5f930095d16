import type { BuiltInModel } from "./model.ts";
import file from "./models.json";
import type { ModelEntry } from "./models-schema.ts";

/** An entry of models.json in the program's own form. */
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
    ...(entry.quality === undefined ? {} : { quality: entry.quality }),
    traits: toTraits(entry),
    ...(entry.dialect === undefined ? {} : { dialect: entry.dialect }),
    ...(entry.price_multiples === undefined ? {} : { priceMultiples: entry.price_multiples }),
    ...(entry.price_note === undefined ? {} : { priceNote: entry.price_note }),
  };
}

function toTraits(entry: ModelEntry): NonNullable<BuiltInModel["traits"]> {
  return {
    ...(entry.reasoning_form === undefined ? {} : { reasoningForm: entry.reasoning_form }),
    ...(entry.efforts === undefined ? {} : { efforts: entry.efforts }),
    ...(entry.budget === undefined ? {} : { budget: entry.budget }),
    ...(entry.rejects_sampling === undefined ? {} : { rejectsSampling: entry.rejects_sampling }),
    ...(entry.rejects_stop === undefined ? {} : { rejectsStop: entry.rejects_stop }),
    ...(entry.demands_signatures === undefined ? {} : { demandsSignatures: entry.demands_signatures }),
    ...(entry.media_in_tool_results === undefined ? {} : { mediaInToolResults: entry.media_in_tool_results }),
    ...(entry.structured_output === undefined ? {} : { structuredOutput: entry.structured_output }),
    ...(entry.schema_beside_tools === undefined ? {} : { schemaBesideTools: entry.schema_beside_tools }),
    ...(entry.prefill === undefined ? {} : { prefill: entry.prefill }),
    ...(entry.system_messages === undefined ? {} : { systemMessages: entry.system_messages }),
    ...(entry.best_dialect === undefined ? {} : { bestDialect: entry.best_dialect }),
    ...(entry.tools_dialect === undefined ? {} : { toolsDialect: entry.tools_dialect }),
    ...(entry.cache_breakpoints === undefined ? {} : { cacheBreakpoints: entry.cache_breakpoints }),
  };
}

/** The catalogue that comes with the program. A test holds models.json to its schema, so it is not checked again here. */
export const builtInModels: readonly BuiltInModel[] = (file.models as ModelEntry[]).map(toModel);
