import { createHash } from "node:crypto";
import { ADMIN_SECRET_PREFIX } from "../access/key-hash.ts";
import { createKey, listKeys } from "../access/keys.ts";
import type { Sources } from "../base/sources.ts";
import type { Config } from "../config/config.ts";
import type { Storage } from "../storage/storage.ts";
import { claimSetting, readSetting } from "../storage/tables/settings.ts";

/** The credentials that the first start creates. They are shown once and stored only as digests. */
export interface FirstStart {
  apiKey?: string;
  adminSecret?: string;
}

const ADMIN_DIGEST = "admin_secret_sha256";
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** If no key exists, the first start creates one, so that the printed curl command works. */
export async function makeFirstKeys(storage: Storage, config: Config, sources: Sources): Promise<FirstStart> {
  const first: FirstStart = {};
  if (config.keys.length === 0 && (await listKeys(storage)).length === 0) {
    first.apiKey = (await createKey(storage, { name: "first", project: "default" }, sources, { who: "gateway" })).key;
  }
  if (!config.admin.secret && (await readSetting(storage, ADMIN_DIGEST)) === undefined) {
    const secret = `${ADMIN_SECRET_PREFIX}${sources.random.id()}${sources.random.id()}`;
    // If two instances start at the same time, only one wins; the other must not print a secret that is not valid.
    if ((await claimSetting(storage, ADMIN_DIGEST, digest(secret))) === digest(secret)) first.adminSecret = secret;
  }
  return first;
}

/** The digest of the admin secret; without one the Admin API is closed to it (S08). */
export const adminHashOf = async (storage: Storage, config: Config): Promise<string | undefined> =>
  config.admin.secret ? digest(config.admin.secret.reveal()) : readSetting(storage, ADMIN_DIGEST);
