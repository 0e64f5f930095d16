import type { ModelEntry } from "../models-schema.ts";

/** New values for one model, in the form of models.json. Prices and multiples are merged name by name; every other field is replaced. */
export type ModelPatch = Pick<ModelEntry, "id"> & Partial<Omit<ModelEntry, "id">>;

/** Patches that were applied together. */
export interface CatalogueUpdate {
  /** In the order in which updates were applied. */
  number: number;
  appliedAtMs: number;
  /** Where the values come from: `litellm`, `models.dev`, or the name of a file or URL. */
  source: string;
  /** YYYY-MM-DD: the day of the source. */
  asOf: string;
  digest: string;
  models: readonly ModelPatch[];
}

/** Where a value comes from and how old it is. */
export interface ValueSource {
  source: string;
  asOf: string;
}
