import { applyUpdates } from "./apply-updates.ts";
import type { CatalogueUpdate } from "./model-patch.ts";
import type { Change, UpdatePlan } from "./plan-update.ts";

/** What one of the applied updates changed, compared with the updates before it. */
export function changesOf(updates: readonly CatalogueUpdate[], number: number): Pick<UpdatePlan, "added" | "changes"> {
  const before = applyUpdates(updates.filter((update) => update.number < number)).entries;
  const added: UpdatePlan["added"] = [];
  const changes: Change[] = [];
  for (const { id: model, pricings = {}, price_multiples = {}, ...facts } of updates.find(
    (update) => update.number === number,
  )?.models ?? []) {
    const entry = before.get(model);
    if (entry === undefined) {
      added.push({ model, priced: Object.keys(pricings).length > 0 });
      continue;
    }
    const compare = (group: string, known: object, values: object) => {
      const had = new Map<string, unknown>(Object.entries(known));
      for (const [name, after] of Object.entries(values)) {
        const value = had.get(name);
        changes.push({ model, field: group + name, ...(value === undefined ? {} : { before: value }), after });
      }
    };
    compare("", entry, facts);
    compare("pricings.", entry.pricings, pricings);
    compare("price_multiples.", entry.price_multiples ?? {}, price_multiples);
  }
  return { added, changes };
}
