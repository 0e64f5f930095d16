import { listKeys } from "../access/keys.ts";
import { staticKeyId } from "../access/known-keys.ts";
import { GatewayError } from "../canon/error.ts";
import type { Config } from "../config/config.ts";
import type { Storage } from "../storage/storage.ts";

/** A key of the configuration is used as written there, whatever the storage holds under its name. */
export async function checkStoredKey(
  idOrName: string,
  storage: Storage,
  config: Config,
  change: "remove" | "change",
): Promise<void> {
  const configured = config.keys.find(({ name }) => name === idOrName || staticKeyId(name) === idOrName);
  if (!configured) return;
  const stored = await listKeys(storage);
  if (stored.some(({ name, revokedAtMs }) => name === idOrName && revokedAtMs === undefined)) return;
  throw new GatewayError("invalid_request", `${configured.name} is kept in the configuration; ${change} it there.`);
}
