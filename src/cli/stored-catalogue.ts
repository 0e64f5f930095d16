import { existsSync } from "node:fs";
import { readCatalogue } from "../app/catalogue-updates.ts";
import { system } from "../base/system.ts";
import { NO_UPDATES, type UpdatedModels } from "../catalogue/updates/apply-updates.ts";
import type { Config } from "../config/config.ts";
import { openStorage } from "../storage/open.ts";
import { sqlitePath } from "../storage/redact-storage-url.ts";
import { storageFailure } from "../storage/storage-failure.ts";

/** The models in force: with the updates in the configured storage, or the built-in ones where there is no storage yet. */
export async function storedCatalogue(config: Config): Promise<UpdatedModels> {
  const path = sqlitePath(config.storage);
  if (path !== undefined && !existsSync(path)) return NO_UPDATES;
  try {
    const storage = await openStorage(config.storage, system.clock);
    return await readCatalogue(storage).finally(() => storage.close());
  } catch (thrown) {
    throw storageFailure(thrown, config.storage);
  }
}
