import { readConfig } from "../app/read-config.ts";
import { system } from "../base/system.ts";
import type { Config } from "../config/config.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { storageFailure } from "../storage/storage-failure.ts";
import { configSource } from "./config-source.ts";

/** Opens the configured storage for one command, with or without a running gateway. */
export async function withStorage<T>(
  flag: string | undefined,
  work: (storage: Storage, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(configSource(flag));
  const storage = await openStorage(config.storage, system.clock);
  try {
    return await work(storage, config);
  } catch (thrown) {
    throw storageFailure(thrown, config.storage);
  } finally {
    await storage.close();
  }
}
