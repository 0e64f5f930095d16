import type { Fallback } from "../../canon/preference.ts";
import { isRetired } from "../../catalogue/is-retired.ts";
import type { UpdatedModels } from "../../catalogue/updates/apply-updates.ts";
import type { Config } from "../../config/config.ts";

/** A model that the configuration names and that its publisher no longer serves. */
export interface RetiredModel {
  model: string;
  /** YYYY-MM-DD */
  retired_on: string;
  /** Where the configuration names it. */
  path: string;
}

export function retiredModels(config: Config, { models }: UpdatedModels, nowMs: number): RetiredModel[] {
  const days = new Map(models.flatMap((model) => (isRetired(model, nowMs) ? [[model.id, model.retiresOn]] : [])));
  const named: [path: string, model: string | undefined][] = [
    ...config.models.map(({ id }, index): [string, string] => [`models[${index}]`, id]),
    ...Object.entries(config.aliases).map(([alias, model]): [string, string] => [`aliases.${alias}`, model]),
    ["routing.fallback", modelOf(config.routing.calls.preference.fallback)],
    ["responses.image_model", config.responses.imageModel],
  ];
  return named.flatMap(([path, model]) => {
    const day = model === undefined ? undefined : days.get(model);
    return model === undefined || day === undefined ? [] : [{ model, retired_on: day, path }];
  });
}

const modelOf = (fallback: Fallback | undefined): string | undefined =>
  typeof fallback === "object" && "model" in fallback ? fallback.model : undefined;

export const tellRetired = ({ model, retired_on, path }: RetiredModel): string =>
  `${path} names ${model}, which its publisher retired on ${retired_on}; calls to it may fail. Choose another model.`;
