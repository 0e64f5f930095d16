import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cancel } from "../base/clock.ts";
import { unlessMissing } from "../base/error-code.ts";
import type { Sources } from "../base/sources.ts";
import type { Config } from "../config/config.ts";
import { ABANDONED_MS, FileJournal } from "../ledger/journal.ts";
import { LeftJournals, leftBefore } from "../ledger/left-journals.ts";
import { recoverJournals } from "../ledger/recover-journals.ts";
import type { Log } from "../observe/log.ts";
import type { Storage } from "../storage/storage.ts";

interface JournalsOptions {
  config: Pick<Config, "dataDir"> & { ledger: Pick<Config["ledger"], "journalBytes"> };
  storage: Storage;
  sources: Sources;
  log: Log;
}

const NAME_FILE = "name";

/** The journal of this process, and the journals that other processes have left behind. */
export class Journals {
  readonly #options: JournalsOptions;
  readonly #folder: string;
  readonly #left: LeftJournals;
  /** Undefined if the configuration disables it. */
  readonly own: FileJournal | undefined;

  constructor(options: JournalsOptions) {
    const { config, sources } = options;
    this.#options = options;
    this.#folder = join(config.dataDir, "journal");
    this.#left = new LeftJournals(sources.clock.nowMs);
    const { journalBytes: maxBytes } = config.ledger;
    this.own = maxBytes === 0 ? undefined : new FileJournal({ ...sources, folder: this.#folder, maxBytes });
  }

  /**
   * Identifies the folder: the same for all processes that use it, created by the first of them. "" if there is no journal, or
   * its folder is not writable.
   */
  async folderName(): Promise<string> {
    if (this.own === undefined) return "";
    const path = join(this.#folder, NAME_FILE);
    try {
      return (await readName(path)) ?? (await this.#makeName(path));
    } catch (err) {
      this.#options.log.warn(
        { err },
        "cannot write to the journal folder: receipts are not journaled while the database is unavailable",
      );
      return "";
    }
  }

  /** The rename is atomic, and the first one wins. */
  async #makeName(path: string): Promise<string> {
    const name = this.#options.sources.random.id();
    const draft = `${path}.${name}`;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFile(draft, name, { mode: 0o600 });
    // Another process may have been first.
    await unlessMissing(link(draft, path), "EEXIST");
    await rm(draft);
    return (await readName(path)) ?? name;
  }

  /** Brings their rows into the store: at the start before anything is summed up, because a killed process may have left some. */
  async recover(): Promise<void> {
    const { storage, log, sources } = this.#options;
    const { rows, damaged } = await recoverJournals({
      storage,
      folder: this.#folder,
      isLeft: this.#left.isLeft,
      isUnused: leftBefore(sources.clock.wallMs()),
      ...(this.own && { own: this.own.path }),
    });
    if (rows > 0) log.info({ rows }, "stored the receipts of a journal");
    for (const { path, ...what } of damaged) {
      log.error({ path, ...what }, "some receipts of a journal could not be stored; the journal file is kept");
    }
  }

  /** Does so from time to time: another process may die. */
  watch(): Cancel {
    const { sources, log } = this.#options;
    return sources.clock.every(ABANDONED_MS, () => {
      this.recover().catch((err: unknown) => log.error({ err }, "failed to read the journals of other processes"));
    });
  }
}

const readName = (path: string): Promise<string | undefined> => unlessMissing(readFile(path, "utf8"), "ENOENT");
