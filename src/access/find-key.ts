import { GatewayError } from "../canon/error.ts";
import type { Queries } from "../storage/storage.ts";
import { type StoredKey, selectKeysByIdOrName } from "../storage/tables/keys.ts";

/** Finds a key by its id, or the only valid key of that name. */
export async function findKey(queries: Queries, idOrName: string): Promise<StoredKey> {
  const found = await selectKeysByIdOrName(queries, idOrName);
  return found.find((candidate) => candidate.id === idOrName) ?? onlyOne(found, idOrName);
}

function onlyOne(named: readonly StoredKey[], name: string): StoredKey {
  const valid = named.filter((key) => key.revokedAtMs === undefined);
  if (valid.length > 1) {
    const ids = valid.map((key) => key.id).join(", ");
    throw new GatewayError("invalid_request", `${valid.length} valid keys have this name; use an id instead: ${ids}.`);
  }
  const key = valid[0] ?? named.at(-1);
  if (key === undefined) throw noSuchKey(name);
  return key;
}

function noSuchKey(name: string): GatewayError {
  const message = `No key has the id or name ${JSON.stringify(name.slice(0, 100))}.`;
  return new GatewayError("not_found", message, { code: "key_not_found" });
}
