import { builtInModels, toModel } from "../built-in-models.ts";
import type { BuiltInModel } from "../model.ts";
import file from "../models.json";
import type { ModelEntry } from "../models-schema.ts";
import type { CatalogueUpdate, ModelPatch, ValueSource } from "./model-patch.ts";

/** The built-in models with the updates that were applied to them. */
export interface UpdatedModels {
  updates: readonly CatalogueUpdate[];
  entries: ReadonlyMap<string, ModelEntry>;
  models: readonly BuiltInModel[];
  /** By model, then by field; a price is `pricings.<name>`. Fields that no update has set come from the built-in catalogue. */
  sources: ReadonlyMap<string, ReadonlyMap<string, ValueSource>>;
}

export const BUILT_IN_NAME = "built-in";

/** The source of the values that no update has set; undefined for models that are not built in. */
export function builtInSource(id: string): ValueSource | undefined {
  const entry = NO_UPDATES.entries.get(id);
  return entry && { source: BUILT_IN_NAME, asOf: entry.prices_as_of ?? file.about.prices_as_of };
}

const BUILT_IN = file.models as ModelEntry[];

/** The built-in models as they are. */
export const NO_UPDATES: UpdatedModels = {
  updates: [],
  entries: new Map(BUILT_IN.map((entry) => [entry.id, entry])),
  models: builtInModels,
  sources: new Map(),
};

export function applyUpdates(updates: readonly CatalogueUpdate[]): UpdatedModels {
  if (updates.length === 0) return NO_UPDATES;
  const entries = new Map(NO_UPDATES.entries);
  const sources = new Map<string, Map<string, ValueSource>>();
  for (const { models, source, asOf } of updates) {
    for (const patch of models) {
      const merged = mergePatch(entries.get(patch.id), patch);
      if (merged === undefined) continue;
      entries.set(patch.id, merged);
      const fields = sources.get(patch.id) ?? new Map<string, ValueSource>();
      for (const name of fieldsOf(patch)) fields.set(name, { source, asOf });
      sources.set(patch.id, fields);
    }
  }
  return { updates, entries, models: [...entries.values()].map(toModel), sources };
}

/** The entry with the new values; undefined for a new model that lacks what every model has, as an update of a later version may. */
function mergePatch(entry: ModelEntry | undefined, patch: ModelPatch): ModelEntry | undefined {
  const { display_name, kind, upstream_model, input_modalities, output_modalities } = patch;
  if (entry === undefined) {
    if (!display_name || !kind || !upstream_model || !input_modalities || !output_modalities) return undefined;
    const required = { display_name, kind, upstream_model, input_modalities, output_modalities };
    return { reasoning: false, pricings: {}, ...patch, ...required };
  }
  const pricings = { ...entry.pricings, ...patch.pricings };
  const multiples = { ...entry.price_multiples, ...patch.price_multiples };
  return {
    ...entry,
    ...patch,
    pricings,
    ...(Object.keys(multiples).length === 0 ? {} : { price_multiples: multiples }),
  };
}

function fieldsOf({ id: _, pricings = {}, ...fields }: ModelPatch): string[] {
  return [...Object.keys(fields), ...Object.keys(pricings).map((name) => `pricings.${name}`)];
}
