import type { MapNode, Report } from "./document.ts";
import { nearest } from "./nearest.ts";
import { placeAt } from "./place-at.ts";
import { SIMULATOR } from "./read-providers.ts";
import type { RootFile } from "./schema.ts";

/** Values as they were read, where any may be missing because it was wrong. */
export type Incomplete<T> = T extends readonly (infer Item)[]
  ? (Incomplete<Item> | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: Incomplete<T[Key]> }
    : T;

/** What no single field shows: names used twice, and names that nothing bears. */
export function checkReferences(
  file: Incomplete<RootFile>,
  root: MapNode,
  kinds: Iterable<string>,
  report: Report,
): void {
  const { models = [], keys = [] } = file;
  const reportRepeats = (section: string, field: string, values: (string | undefined)[]) => {
    const first = new Map<string, number>();
    values.forEach((value, index) => {
      if (value === undefined) return;
      const earlier = first.get(value);
      if (earlier === undefined) first.set(value, index);
      else {
        const message = `${section}[${index}].${field} is the same as ${section}[${earlier}].${field}`;
        report(placeAt(root, [section, index, field]), message);
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
      const place = placeAt(root, ["models", modelIndex, "offers", offerIndex, "provider"]);
      report(place, `models[${modelIndex}].offers[${offerIndex}].provider is not a declared provider; ${hint}`);
    });
  });
}
