import type { Fallback } from "../../canon/preference.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { daysUntil } from "../../catalogue/days.ts";
import type { Config } from "../../config/config.ts";

/** A model that the configuration names and that nobody serves any more, or soon. */
export interface NamedRetirement {
  model: string;
  /** YYYY-MM-DD */
  retires_on: string;
  /** 0 once it is retired. */
  days: number;
  replaced_by: string | null;
  /** Where the configuration names it. */
  path: string;
}

/** What is further away is not worth a warning at each start. */
const SOON_DAYS = 30;

export function namedRetirements(
  config: Config,
  catalogue: Pick<Catalogue, "endOf">,
  nowMs: number,
): NamedRetirement[] {
  const named: [path: string, model: string | undefined][] = [
    ...config.models.map(({ id }, index): [string, string] => [`models[${index}]`, id]),
    ...Object.entries(config.aliases).map(([alias, model]): [string, string] => [`aliases.${alias}`, model]),
    ["routing.fallback", modelOf(config.routing.calls.preference.fallback)],
    ["responses.image_model", config.responses.imageModel],
  ];
  return named.flatMap(([path, model]) => {
    const end = model === undefined ? undefined : catalogue.endOf(model);
    if (model === undefined || end === undefined) return [];
    const days = daysUntil(end.on, nowMs);
    return days > SOON_DAYS ? [] : [{ model, retires_on: end.on, days, replaced_by: end.replacedBy ?? null, path }];
  });
}

const modelOf = (fallback: Fallback | undefined): string | undefined =>
  typeof fallback === "object" && "model" in fallback ? fallback.model : undefined;

export function tellRetirement({ model, retires_on, days, replaced_by, path }: NamedRetirement): string {
  const when = days === 0 ? `which was retired on ${retires_on}` : `which retires on ${retires_on}, in ${days} days`;
  const cure = replaced_by === null ? "Choose another model" : `Use ${replaced_by}`;
  return `${path} names ${model}, ${when}. ${cure}, or give it \`offers\` at a host that goes on serving it.`;
}
