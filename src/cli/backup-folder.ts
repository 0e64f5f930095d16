import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { copySqlite, damageOf } from "../storage/copy-sqlite.ts";
import { VERSION } from "../version.ts";
import { UsageError } from "./command.ts";

/** The manifest of a backup. */
interface Manifest {
  version: string;
  created_at: string;
  /** Of the database. */
  sha256: string;
  /** Its parts in addition to the database. */
  parts: string[];
}

const DATABASE = "trivium.db";
const MANIFEST = "backup.json";
/** In `data_dir`: receipts waiting for the database, and the encryption key of stored responses. */
const JOURNAL = "journal";
const KEY = "responses.key";
const FILES = "files";

/** The file of the configured SQLite database. */
export function databaseFile({ storage }: Pick<Config, "storage">, command: string): string {
  const file = storage.startsWith("sqlite:") ? storage.slice("sqlite:".length) : undefined;
  if (file !== undefined && file !== ":memory:") return file;
  throw new UsageError(`${command} only supports SQLite. For PostgreSQL, use pg_dump --format=custom and pg_restore.`);
}

/** Copies everything that a gateway needs. The gateway may be running. */
export function makeBackup(config: Config, folder: string, options: { files: boolean; nowMs: number }): Manifest {
  const database = databaseFile(config, "backup");
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`The folder ${folder} is not empty. Choose an empty or new folder.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const parts: string[] = [];
  const keep = (name: string, from: string) => {
    if (!existsSync(from)) return;
    cpSync(from, join(folder, name), { recursive: true });
    parts.push(name);
  };
  // The journal first: a receipt that leaves it in the meantime is in the database, and one that is in both counts once.
  keep(JOURNAL, join(config.dataDir, JOURNAL));
  copySqlite(database, join(folder, DATABASE));
  keep(KEY, join(config.dataDir, KEY));
  if (options.files && !config.files.startsWith("s3://")) keep(FILES, config.files);
  const manifest: Manifest = {
    version: VERSION,
    created_at: new Date(options.nowMs).toISOString(),
    sha256: digestOf(join(folder, DATABASE)),
    parts,
  };
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

/** The manifest of a valid backup; throws if it is damaged. */
export function readBackup(folder: string): Manifest {
  const file = join(folder, MANIFEST);
  if (!existsSync(file)) throw new UsageError(`${folder} is not a backup: ${MANIFEST} is missing.`);
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest;
  const database = join(folder, DATABASE);
  if (!existsSync(database) || digestOf(database) !== manifest.sha256) {
    throw new UsageError(`${database} does not match the checksum in ${MANIFEST}: it is damaged or was modified.`);
  }
  const damage = damageOf(database);
  if (damage !== undefined) throw new UsageError(`${database} is damaged: ${damage}`);
  return manifest;
}

/** Restores a backup. Previous files are renamed and their new paths returned. */
export function restoreBackup(config: Config, folder: string, { parts }: Manifest, nowMs: number): string[] {
  const database = databaseFile(config, "restore");
  const aside = `.before-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`;
  const kept: string[] = [];
  const replace = (name: string, place: string) => {
    if (existsSync(place)) {
      renameSync(place, place + aside);
      kept.push(place + aside);
    }
    cpSync(join(folder, name), place, { recursive: true });
  };
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  for (const end of ["-wal", "-shm"]) rmSync(database + end, { force: true });
  replace(DATABASE, database);
  for (const name of [JOURNAL, KEY]) if (parts.includes(name)) replace(name, join(config.dataDir, name));
  if (parts.includes(FILES) && !config.files.startsWith("s3://")) replace(FILES, config.files);
  return kept;
}

const CHUNK_BYTES = 1024 * 1024;

/** Reads in chunks, because a ledger may be larger than memory. */
function digestOf(file: string): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const chunk = new Uint8Array(CHUNK_BYTES);
  const descriptor = openSync(file, "r");
  try {
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      hasher.update(chunk.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
  return hasher.digest("hex");
}
