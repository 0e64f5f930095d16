import type { MapNode, Report } from "./document.ts";
import { nearest } from "./nearest.ts";
import { positionAt } from "./position-at.ts";
import { SIMULATOR } from "./read-providers.ts";
import type { RootFile } from "./schema.ts";

/** Values as they were read, where any may be missing because it was wrong. */
export type Incomplete<T> = T extends readonly (infer Item)[]
  ? (Incomplete<Item> | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: Incomplete<T[Key]> }
    : T;

/** The models that are known without the file. */
export interface KnownModels {
  has(id: string): boolean;
  /** The id that a misspelt one most likely meant. */
  near(id: string): string | undefined;
}

/** Checks across fields: names used twice, and references to names that do not exist. */
export function checkReferences(
  file: Incomplete<RootFile>,
  root: MapNode,
  kinds: Iterable<string>,
  knownModels: KnownModels,
  report: Report,
): void {
  checkAliases(file, root, knownModels, report);
  const { models = [], keys = [] } = file;
  const reportRepeats = (section: string, field: string, values: (string | undefined)[]) => {
    const first = new Map<string, number>();
    values.forEach((value, index) => {
      if (value === undefined) return;
      const earlier = first.get(value);
      if (earlier === undefined) first.set(value, index);
      else {
        const message = `${section}[${index}].${field} is the same as ${section}[${earlier}].${field}`;
        report(positionAt(root, [section, index, field]), message);
      }
    });
  };
  reportRepeats(
    "models",
    "id",
    models.map((model) => model?.id),
  );
  reportRepeats(
    "keys",
    "name",
    keys.map((key) => key?.name),
  );
  reportRepeats(
    "keys",
    "key",
    keys.map((key) => key?.key),
  );

  const section = root.entries.get("providers")?.node;
  // Without a section of their own, providers come from the environment, each named after its kind.
  const known = new Set([...(section?.kind === "map" ? section.entries.keys() : kinds), SIMULATOR]);
  models.forEach((model, modelIndex) => {
    model?.offers?.forEach((offer, offerIndex) => {
      const provider = offer?.provider;
      if (provider === undefined || known.has(provider)) return;
      const near = nearest(provider, known);
      const hint = near === undefined ? `declared are ${[...known].join(", ")}` : `did you mean ${near}?`;
      const position = positionAt(root, ["models", modelIndex, "offers", offerIndex, "provider"]);
      report(position, `models[${modelIndex}].offers[${offerIndex}].provider is not a declared provider; ${hint}`);
    });
  });
}

/** An alias is a new name for a known model: an alias of an alias would hide which model is called. */
function checkAliases(
  { aliases = {}, models = [] }: Incomplete<RootFile>,
  root: MapNode,
  known: KnownModels,
  report: Report,
) {
  const configured = new Set(models.map((model) => model?.id));
  const isModel = (id: string) => configured.has(id) || known.has(id);
  for (const [alias, meant] of Object.entries(aliases)) {
    const path = `aliases.${alias}`;
    if (isModel(alias))
      report(positionAt(root, ["aliases", alias]), `${path} is the id of a model; an alias is a new name`);
    if (meant === undefined || isModel(meant) || isModel(meant.replace(/:[^:]*$/, ""))) continue;
    const near = Object.hasOwn(aliases, meant)
      ? undefined
      : (nearest(meant, [...configured].filter(isText)) ?? known.near(meant));
    const hint = near === undefined ? "it must be the id of a model, <provider>/<model_name>" : `did you mean ${near}?`;
    const problem = Object.hasOwn(aliases, meant) ? "is itself an alias" : "is not a known model";
    report(positionAt(root, ["aliases", alias]), `${path} ${problem}; ${hint}`);
  }
}

const isText = (value: string | undefined): value is string => value !== undefined;
