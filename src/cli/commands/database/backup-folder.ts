import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../../../base/error-code.ts";
import type { Config } from "../../../config/config.ts";
import { isFileName } from "../../../files/file-store.ts";
import { copySqlite, damageOf } from "../../../storage/copy-sqlite.ts";
import { sqlitePath } from "../../../storage/redact-storage-url.ts";
import { upgradeCopies } from "../../../storage/upgrade-copy.ts";
import { VERSION } from "../../../version.ts";
import { UsageError } from "../../command.ts";

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
  const file = sqlitePath(storage);
  if (file !== undefined && file !== ":memory:") return file;
  throw new UsageError(
    `${command} only supports SQLite. For PostgreSQL, use pg_dump and pg_restore as in docs/deploy.md#postgresql.`,
  );
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
  const keepsFiles = options.files && !config.files.startsWith("s3://") && existsSync(config.files);
  // The journal first: a receipt that leaves it in the meantime is in the database, and one that is in both counts once. Files
  // before and after: a file of the copied rows was there before, or still is.
  keep(JOURNAL, join(config.dataDir, JOURNAL));
  if (keepsFiles) copyFiles(config.files, join(folder, FILES));
  copySqlite(database, join(folder, DATABASE));
  if (keepsFiles) {
    copyFiles(config.files, join(folder, FILES));
    parts.push(FILES);
  }
  keep(KEY, join(config.dataDir, KEY));
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

/** Copies the files that are not there yet; their content never changes. */
function copyFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(from)) {
    if (!isFileName(name) || existsSync(join(to, name))) continue;
    try {
      copyFileSync(join(from, name), join(to, name));
    } catch (thrown) {
      // It expired, or was deleted.
      if (errorCode(thrown) !== "ENOENT") throw thrown;
    }
  }
}

/** Moves previous data to another name. */
export class Aside {
  /** The new paths. */
  readonly kept: string[] = [];
  readonly #suffix: string;

  constructor(nowMs: number) {
    this.#suffix = `.before-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`;
  }

  move(path: string): void {
    if (!existsSync(path)) return;
    renameSync(path, path + this.#suffix);
    this.kept.push(path + this.#suffix);
  }

  /** With its write-ahead log, which may have the latest rows, and copies of earlier upgrades, which belong to it. */
  moveDatabase(path: string): void {
    const copies = upgradeCopies(path);
    for (const end of ["-wal", "-shm"]) {
      if (existsSync(path + end)) renameSync(path + end, path + this.#suffix + end);
    }
    this.move(path);
    for (const copy of copies) this.move(copy);
  }
}

/** Restores a backup. Previous files are renamed and their new paths returned. */
export function restoreBackup(config: Config, folder: string, { parts }: Manifest, nowMs: number): string[] {
  const database = databaseFile(config, "restore");
  const aside = new Aside(nowMs);
  const copy = (name: string, place: string) => cpSync(join(folder, name), place, { recursive: true });
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  mkdirSync(dirname(database), { recursive: true, mode: 0o700 });
  aside.moveDatabase(database);
  copy(DATABASE, database);
  const replace = (name: string, place: string) => {
    aside.move(place);
    copy(name, place);
  };
  for (const name of [JOURNAL, KEY]) if (parts.includes(name)) replace(name, join(config.dataDir, name));
  if (parts.includes(FILES) && !config.files.startsWith("s3://")) {
    try {
      aside.move(config.files);
    } catch (thrown) {
      // The folder of a mounted disk keeps its name. Names of files are never used twice.
      if (errorCode(thrown) !== "EBUSY" && errorCode(thrown) !== "EXDEV") throw thrown;
    }
    copy(FILES, config.files);
  }
  return aside.kept;
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
