import { existsSync } from "node:fs";
import { system } from "../../base/system.ts";
import { NO_UPDATES, type UpdatedModels } from "../../catalogue/updates/apply-updates.ts";
import type { Config } from "../../config/config.ts";
import { catalogueUpdates } from "../../storage/migrations/0030-catalogue-updates.ts";
import { openUnchanged } from "../../storage/open.ts";
import { sqlitePath } from "../../storage/redact-storage-url.ts";
import { storageFailure } from "../../storage/storage-failure.ts";
import { readCatalogue } from "./catalogue-updates.ts";

/**
 * The models in force: with the updates in the configured storage, or the built-in ones where there is no storage yet. The storage is
 * not changed, so a command of a new version can run next to a gateway of the previous one.
 */
export async function storedCatalogue({ storage: url }: Pick<Config, "storage">): Promise<UpdatedModels> {
  const path = sqlitePath(url);
  if (path !== undefined && !existsSync(path)) return NO_UPDATES;
  try {
    const { storage, version } = await openUnchanged(url, system.clock);
    const read = version < catalogueUpdates.version ? Promise.resolve(NO_UPDATES) : readCatalogue(storage);
    return await read.finally(() => storage.close());
  } catch (thrown) {
    throw storageFailure(thrown, url);
  }
}
