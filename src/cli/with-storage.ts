import { existsSync } from "node:fs";
import { runsHere } from "../app/process-name.ts";
import { readConfigInForce } from "../app/read-config-in-force.ts";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import type { Config } from "../config/config.ts";
import { awaitProcesses } from "../instances/await-processes.ts";
import { openCurrent } from "../storage/open.ts";
import { sqlitePath } from "../storage/redact-storage-url.ts";
import type { Storage } from "../storage/storage.ts";
import { storageFailure } from "../storage/storage-failure.ts";
import { configSource } from "./config-source.ts";

/** The sections that most commands need; they run without the providers' keys. */
const STORAGE_SECTIONS = ["storage", "data_dir", "keys"] as const;

interface Needs {
  /** The command prices calls or resolves models, so every section is read. */
  wholeConfig?: boolean;
  /** The command may be the first to use the storage. Otherwise a missing SQLite file means the wrong folder. */
  mayCreate?: boolean;
}

/** Opens the configured storage for one command, with or without a running gateway. Its tables are not changed. */
export async function withStorage<T>(
  flag: string | undefined,
  work: (storage: Storage, config: Config) => Promise<T>,
  { wholeConfig = false, mayCreate = false }: Needs = {},
): Promise<T> {
  const config = await readConfigInForce({
    ...configSource(flag),
    ...(wholeConfig ? {} : { sections: STORAGE_SECTIONS }),
  });
  if (!mayCreate) requireFile(config);
  const storage = await openCurrent(config.storage, system.clock, { mayCreate });
  try {
    const before = await storage.changeStamp();
    const result = await work(storage, config);
    const after = await storage.changeStamp();
    if (after.keys !== before.keys || after.catalogue !== before.catalogue) await spread(storage);
    return result;
  } catch (thrown) {
    throw storageFailure(thrown, config.storage);
  } finally {
    await storage.close();
  }
}

/** What was written holds in every process of this machine before the command says so (choices 9). */
async function spread(storage: Storage): Promise<void> {
  const tell = (text: string) => (places: readonly string[]) => console.error(`${places.join(", ")}: ${text}`);
  await awaitProcesses({
    storage,
    clock: system.clock,
    isHere: runsHere,
    onSlow: tell("has not confirmed the change yet; waiting for it"),
    onSilent: tell("does not respond, and may not have applied the change"),
  });
}

/** Throws if the storage is a SQLite file that does not exist. */
export function requireFile({ storage, file }: Pick<Config, "storage" | "file">): void {
  const path = sqlitePath(storage);
  if (path === undefined || path === ":memory:" || existsSync(path)) return;
  const cure =
    file === undefined
      ? "Run this command in the gateway's folder, or pass its configuration with --config."
      : "Start the gateway once to create it, or pass another configuration with --config.";
  throw new GatewayError("not_found", `The database ${path} does not exist. ${cure}`);
}
