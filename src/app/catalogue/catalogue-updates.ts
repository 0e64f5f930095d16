import { type Actor, recordAct } from "../../access/audit.ts";
import type { Sources } from "../../base/sources.ts";
import { GatewayError } from "../../canon/error.ts";
import { applyUpdates, type UpdatedModels } from "../../catalogue/updates/apply-updates.ts";
import type { CatalogueUpdate, ModelPatch } from "../../catalogue/updates/model-patch.ts";
import type { Queries, Storage } from "../../storage/storage.ts";
import {
  countCatalogueChange,
  deleteUpdate,
  insertUpdate,
  readCatalogueChanges,
  selectUpdates,
} from "../../storage/tables/catalogue-updates.ts";

/** The models in force, and the number of the change that led to them. */
export interface StoredCatalogue extends UpdatedModels {
  change: number;
}

/** Reads the updates and applies them to the built-in models. */
export async function readCatalogue(storage: Storage): Promise<StoredCatalogue> {
  const { change, rows } = await storage.transaction(async (queries) => ({
    change: await readCatalogueChanges(queries),
    rows: await selectUpdates(queries),
  }));
  const updates = rows.map(({ models, ...row }): CatalogueUpdate => ({ ...row, models: JSON.parse(models) }));
  return { ...applyUpdates(updates), change };
}

interface NewUpdate {
  /** The change that the update was planned for. */
  change: number;
  source: string;
  asOf: string;
  digest: string;
  models: readonly ModelPatch[];
}

/** Stores an update. Running gateways apply it within seconds. */
export async function storeUpdate(
  storage: Storage,
  update: NewUpdate,
  sources: Sources,
  actor: Actor,
): Promise<number> {
  const { change, source, asOf, digest, models } = update;
  return storage.transaction(async (queries) => {
    const number = await countAfter(queries, change);
    const appliedAtMs = Math.floor(sources.clock.wallMs());
    const row = { number, appliedAtMs, who: actor.who, source, asOf, digest, models: JSON.stringify(models) };
    await insertUpdate(queries, row);
    const after = { source, as_of: asOf, update: digest, models: models.length };
    await recordAct(queries, { ...actor, act: "catalogue.update", target: String(number), after }, sources);
    return number;
  });
}

/** Removes an update: its values are those of the updates before it again, or the built-in ones. */
export async function removeUpdate(storage: Storage, number: number, sources: Sources, actor: Actor): Promise<void> {
  await storage.transaction(async (queries) => {
    if (!(await deleteUpdate(queries, number))) {
      const message = `No catalogue update ${number}. \`trivium catalogue list\` shows the applied updates.`;
      throw new GatewayError("not_found", message);
    }
    await countCatalogueChange(queries);
    await recordAct(queries, { ...actor, act: "catalogue.remove", target: String(number) }, sources);
  });
}

async function countAfter(queries: Queries, change: number): Promise<number> {
  const number = await countCatalogueChange(queries);
  if (number === change + 1) return number;
  throw new GatewayError("invalid_request", "The catalogue has changed since this update was planned. Run it again.");
}
