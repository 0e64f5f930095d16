import { readFallback } from "../canon/preference.ts";
import type { MapNode, Report } from "./document-node.ts";
import { nearestName } from "./nearest-name.ts";
import { positionAt } from "./position-at.ts";
import { SIMULATOR } from "./read-providers.ts";
import type { RootFile } from "./schema.ts";

/** Values as they were read; any of them may be missing because it was invalid. */
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
        const message = `${section}[${index}].${field} must be unique, but is the same as ${section}[${earlier}].${field}`;
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

  const known = knownProviders(root, kinds);
  checkFallbacks(file, root, known, knownModels, report);
  models.forEach((model, modelIndex) => {
    model?.offers?.forEach((offer, offerIndex) => {
      const provider = offer?.provider;
      if (provider === undefined || known.has(provider)) return;
      const near = nearestName(provider, known);
      const hint = near === undefined ? namesOf(file, root, known) : `did you mean ${near}?`;
      const position = positionAt(root, ["models", modelIndex, "offers", offerIndex, "provider"]);
      report(position, `models[${modelIndex}].offers[${offerIndex}].provider is not a declared provider; ${hint}`);
    });
  });
}

/** Without a `providers` section, providers come from the environment, each named after its kind. */
function knownProviders(root: MapNode, kinds: Iterable<string>): Set<string> {
  const section = root.entries.get("providers")?.node;
  return new Set([...(section?.kind === "map" ? section.entries.keys() : kinds), SIMULATOR]);
}

/** Without a `providers` section nothing is declared, and a name can only be that of a kind. */
function namesOf({ simulator }: Incomplete<RootFile>, root: MapNode, known: ReadonlySet<string>): string {
  const names = [...known].filter((name) => name !== SIMULATOR || simulator !== false);
  const listed = names.length === 0 ? "none" : names.join(", ");
  return root.entries.has("providers")
    ? `declared providers: ${listed}`
    : `the file has no \`providers\`, so use a kind whose variables are set in the environment: ${listed}`;
}

/** A fallback to nowhere would only be noticed when it is needed. */
function checkFallbacks(
  file: Incomplete<RootFile>,
  root: MapNode,
  providers: ReadonlySet<string>,
  known: KnownModels,
  report: Report,
): void {
  const { routing, keys = [], models = [], aliases = {} } = file;
  const configured = models.flatMap((model) => model?.id ?? []);
  const check = (written: string | boolean | undefined, path: readonly (string | number)[], shown: string) => {
    const fallback = written === undefined ? "all" : readFallback(written);
    if (typeof fallback === "string") return;
    if ("provider" in fallback) {
      if (providers.has(fallback.provider)) return;
      const near = nearestName(fallback.provider, providers);
      const hint = near === undefined ? namesOf(file, root, providers) : `did you mean ${near}?`;
      report(positionAt(root, path), `${shown} is neither a declared provider nor a model id; ${hint}`);
      return;
    }
    const { model } = fallback;
    if (configured.includes(model) || known.has(model) || Object.hasOwn(aliases, model)) return;
    const near = nearestName(model, configured) ?? known.near(model);
    const hint = near === undefined ? "use a model id of the form <provider>/<model_name>" : `did you mean ${near}?`;
    report(positionAt(root, path), `${shown} is not a known model; ${hint}`);
  };
  check(routing?.fallback, ["routing", "fallback"], "routing.fallback");
  keys.forEach((key, index) => {
    check(key?.routing?.fallback, ["keys", index, "routing", "fallback"], `keys[${index}].routing.fallback`);
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
      report(
        positionAt(root, ["aliases", alias]),
        `${path} is already the id of a model; choose another name for the alias`,
      );
    if (meant === undefined || isModel(meant) || isModel(meant.replace(/:[^:]*$/, ""))) continue;
    const near = Object.hasOwn(aliases, meant)
      ? undefined
      : (nearestName(meant, [...configured].filter(isText)) ?? known.near(meant));
    const hint = near === undefined ? "use a model id of the form <provider>/<model_name>" : `did you mean ${near}?`;
    const problem = Object.hasOwn(aliases, meant) ? "refers to another alias" : "refers to an unknown model";
    report(positionAt(root, ["aliases", alias]), `${path} ${problem}; ${hint}`);
  }
}

const isText = (value: string | undefined): value is string => value !== undefined;
