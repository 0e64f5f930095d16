import { statSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";

export interface ConfigWatch {
  /** Reloads the configuration now, changed or not, and applies it even if sections are lost: an operator asked for it. */
  reload(): void;
  /** Applies a changed file now: another process has seen that it is whole. */
  applyChanged(): void;
  /** Reads it again and applies it, like a changed file: something that it refers to has changed. */
  recheck(): void;
  close(): void;
}

/**
 * The file is polled. Polling detects renames by editors, mounted folders and swapped symbolic links, which file events miss
 * on some systems.
 */
const LOOK_EVERY_MS = 250;
/** A change counts once the file has been unchanged for this long, so that it is not read half written. */
const SETTLE_MS = 2_000;

interface WatchOptions {
  clock: Clock;
  signal?: AbortSignal;
  /** How long a changed file must stay unchanged. */
  settleMs?: number;
  /** Reads what the configuration refers to and `load` cannot wait for; undefined if there is nothing. It must not reject. */
  prepare?: () => Promise<unknown> | undefined;
}

/**
 * Passes on each new configuration as a whole. A file that is wrong or missing is reported to `onProblem`, and the old
 * configuration stays (H25). `load` is called once at the start to learn which file to watch; if there is none yet, the one
 * that would be read.
 */
export function watchConfig(
  load: () => Config,
  onChange: (config: Config) => void,
  onProblem: (error: ConfigError) => void,
  { clock, signal, settleMs = SETTLE_MS, prepare }: WatchOptions,
): ConfigWatch {
  let file: string | undefined;
  let found = false;
  let loaded: string | undefined;
  let seen: string | undefined;
  let seenMs = clock.nowMs();
  let taken: Config | undefined;
  let valueFiles: readonly string[] = [];
  const state = () => stateOf(file, valueFiles);

  const attempt = (use: (config: Config) => void, asked: boolean) => {
    loaded = seen = state();
    try {
      const config = load();
      if (file !== undefined && found && config.file === undefined) throw missing(file);
      found = config.file !== undefined;
      const path = config.file ?? config.awaitedFile;
      if (path !== file || config.valueFiles.join() !== valueFiles.join()) {
        file = path;
        valueFiles = config.valueFiles;
        loaded = seen = state();
      }
      if (!asked) refuseLosses(taken, config);
      use(config);
      taken = config;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      onProblem(error);
    }
  };
  let isPreparing = false;
  const prepared = (use: () => void) => {
    if (isPreparing) return;
    const preparing = prepare?.();
    if (preparing === undefined) {
      use();
      return;
    }
    isPreparing = true;
    void preparing.finally(() => {
      isPreparing = false;
      use();
    });
  };
  const look = () => {
    const now = state();
    if (now !== seen) {
      seen = now;
      seenMs = clock.nowMs();
    }
    if (now === undefined || now === loaded || clock.nowMs() - seenMs < settleMs) return;
    prepared(() => attempt(onChange, false));
  };

  attempt(() => {}, true);
  const close = clock.every(Math.min(LOOK_EVERY_MS, settleMs), look, { background: true });
  signal?.addEventListener("abort", close, { once: true });
  return {
    reload: () => prepared(() => attempt(onChange, true)),
    recheck: () => attempt(onChange, false),
    applyChanged: () => {
      if (state() !== loaded) attempt(onChange, false);
    },
    close,
  };
}

/** A fingerprint of the configuration file and the files that contain its values; undefined while there is no file. */
function stateOf(file: string | undefined, valueFiles: readonly string[]): string | undefined {
  const own = file === undefined ? undefined : stateOfFile(file);
  return own === undefined ? undefined : [own, ...valueFiles.map(stateOfFile)].join(" ");
}

/** Undefined while there is none, as between an editor's delete and rename. */
function stateOfFile(file: string): string | undefined {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

function missing(file: string): ConfigError {
  return new ConfigError([
    { file, line: 1, column: 1, message: "the file no longer exists; the previous configuration stays in effect" },
  ]);
}

/**
 * Refuses a file that is suddenly empty, or lost every key or provider. A program that writes a file in chunks, or truncates it
 * first, leaves such a file for a moment, and loading it would refuse every client (H25). A section that is present and empty
 * is intended.
 */
function refuseLosses(before: Config | undefined, after: Config): void {
  if (before?.file === undefined || after.file === undefined) return;
  const problem = (message: string) => new ConfigError([{ file: after.shownFile, line: 1, column: 1, message }]);
  if (after.fields.length === 0 && before.fields.length > 0) {
    throw problem("the file is empty; if this is intended, send SIGHUP");
  }
  for (const [section, had, empty] of [
    ["keys", before.keys.length, "[]"],
    ["providers", before.providers?.length ?? 0, "{}"],
  ] as const) {
    if (had === 0 || after.fields.includes(section)) continue;
    throw problem(
      `${section} is missing, but had ${had} before; if this is intended, write ${section}: ${empty} or send SIGHUP`,
    );
  }
}
