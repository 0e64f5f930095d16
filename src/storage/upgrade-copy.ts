import { Database } from "bun:sqlite";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { GatewayError } from "../canon/error.ts";
import { copySqlite } from "./copy-sqlite.ts";

/** A copy of a SQLite database from before its first migration to a version. */
export interface UpgradeCopy {
  path: string;
  /** The version that its tables have; undefined if it cannot be read. */
  version: number | undefined;
  madeAtMs: number;
}

const PART = ".part";
const copyPath = (database: string, target: number): string => `${database}.before-version-${target}`;

/**
 * Keeps a copy of the database as it is now, and removes those of earlier upgrades. The caller holds the write lock. After an
 * upgrade that was interrupted half-way, the copy from before its beginning stays.
 */
export function keepUpgradeCopy(database: string, version: number, target: number): void {
  const path = copyPath(database, target);
  const present = existsSync(path) ? versionOfCopy(path) : undefined;
  if (present !== undefined && present < version) return;
  try {
    rmSync(path + PART, { force: true });
    copySqlite(database, path + PART);
    renameSync(path + PART, path);
  } catch (cause) {
    rmSync(path + PART, { force: true });
    const reason = cause instanceof Error ? cause.message : String(cause);
    const megabytes = Math.ceil(statSync(database).size / 1e6);
    throw new GatewayError(
      "internal",
      `The database ${database} must be upgraded from version ${version} to ${target}, but a copy could not be made first: ${reason}. ` +
        `Nothing was changed. Free ${megabytes} MB there, or back it up elsewhere and run \`trivium migrate --without-copy\`.`,
      { cause },
    );
  }
  for (const other of upgradeCopies(database)) if (other !== path) rmSync(other, { force: true });
}

/** The copy that the last upgrade kept, if there is one. */
export function lastUpgradeCopy(database: string): UpgradeCopy | undefined {
  const found = upgradeCopies(database).map((path) => ({
    path,
    version: versionOfCopy(path),
    madeAtMs: statSync(path).mtimeMs,
  }));
  return found.sort((one, other) => other.madeAtMs - one.madeAtMs)[0];
}

export function upgradeCopies(database: string): string[] {
  const [folder, start] = [dirname(database), `${basename(database)}.before-version-`];
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => join(folder, name));
}

function versionOfCopy(path: string): number | undefined {
  let copy: Database | undefined;
  try {
    copy = new Database(path, { readonly: true });
    return (copy.query("SELECT MAX(version) AS version FROM migrations").get() as { version: number }).version;
  } catch {
    return undefined;
  } finally {
    copy?.close();
  }
}
