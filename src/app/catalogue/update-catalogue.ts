import type { Actor } from "../../access/audit.ts";
import type { Sources } from "../../base/sources.ts";
import { GatewayError } from "../../canon/error.ts";
import { planUpdate } from "../../catalogue/updates/plan-update.ts";
import type { UpdateReport, UpdateRequest } from "../../server/admin/admin-catalogue.ts";
import type { Storage } from "../../storage/storage.ts";
import { readCatalogue, storeUpdate } from "./catalogue-updates.ts";

/** Compares a published list with the models in force, and stores the differences if the request says so. */
export async function updateCatalogue(
  storage: Storage,
  { source, asOf, list, confirmed, apply, digest }: UpdateRequest,
  sources: Sources,
  actor: Actor,
): Promise<UpdateReport> {
  const { entries, change } = await readCatalogue(storage);
  const unknown = [...confirmed].filter((model) => !entries.has(model));
  if (unknown.length > 0) {
    throw new GatewayError("invalid_request", `confirm: there is no model ${unknown.join(", ")}.`, { path: "confirm" });
  }
  const plan = planUpdate(entries, { source, asOf }, list, confirmed);
  if (digest !== undefined && digest !== plan.digest) {
    const message = `The update has the digest ${plan.digest}, not ${digest}. Nothing was changed.`;
    throw new GatewayError("invalid_request", message, { path: "digest" });
  }
  const { patches: models, added, changes, held } = plan;
  const update = { change, source, asOf, digest: plan.digest, models };
  const applied = apply && models.length > 0 ? await storeUpdate(storage, update, sources, actor) : null;
  return {
    source,
    as_of: asOf,
    listed: list.models.length,
    skipped: list.skipped,
    unread: list.unread,
    added,
    changes,
    held,
    digest: plan.digest,
    models: models.length,
    applied,
  };
}
