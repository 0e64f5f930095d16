import { withoutAbsent } from "../base/without-absent.ts";
import type { BuiltInModel } from "./model.ts";
import file from "./models.json";
import type { ModelEntry } from "./models-schema.ts";

/** An entry of models.json in the program's own form. */
export function toModel(entry: ModelEntry): BuiltInModel {
  return withoutAbsent({
    id: entry.id,
    displayName: entry.display_name,
    upstreamModel: entry.upstream_model,
    kind: entry.kind,
    inputModalities: entry.input_modalities,
    outputModalities: entry.output_modalities,
    reasoning: entry.reasoning,
    pricings: entry.pricings,
    created: entry.created,
    retiresOn: entry.retires_on,
    retiresAfter: entry.retires_after,
    replacedBy: entry.replaced_by,
    retirement: entry.retirement,
    contextLength: entry.context_length,
    maxOutputTokens: entry.max_output_tokens,
    quality: entry.quality,
    traits: toTraits(entry),
    dialect: entry.dialect,
    priceMultiples: entry.price_multiples,
    priceNote: entry.price_note,
  });
}

function toTraits(entry: ModelEntry): NonNullable<BuiltInModel["traits"]> {
  return withoutAbsent({
    reasoningForm: entry.reasoning_form,
    efforts: entry.efforts,
    budget: entry.budget,
    rejectsSampling: entry.rejects_sampling,
    rejectsPenalties: entry.rejects_penalties,
    rejectsForcedTools: entry.rejects_forced_tools,
    bindsThinking: entry.binds_thinking,
    rejectsStop: entry.rejects_stop,
    demandsSignatures: entry.demands_signatures,
    mediaInToolResults: entry.media_in_tool_results,
    structuredOutput: entry.structured_output,
    schemaBesideTools: entry.schema_beside_tools,
    prefill: entry.prefill,
    systemMessages: entry.system_messages,
    bestDialect: entry.best_dialect,
    toolsDialect: entry.tools_dialect,
    cacheBreakpoints: entry.cache_breakpoints,
    toolSearch: entry.tool_search,
    compaction: entry.compaction,
  });
}

/** The catalogue that comes with the program. A test holds models.json to its schema, so it is not checked again here. */
export const builtInModels: readonly BuiltInModel[] = (file.models as ModelEntry[]).map(toModel);
