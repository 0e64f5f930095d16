import { statSync } from "node:fs";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";

export interface ConfigWatch {
  /** Reads the configuration again now, changed or not. */
  reload(): void;
  close(): void;
}

/**
 * The file is looked at rather than listened to: a look sees an editor's rename, a mounted folder and a swapped
 * symbolic link alike, which file events do not everywhere. A change counts once two looks in a row agree, so that a
 * file is not read half written.
 */
const LOOK_EVERY_MS = 250;

/**
 * Hands over each new configuration whole. One that is wrong, or gone, is a problem for `onProblem`, and the old one
 * stays (H25). `load` is called once at the start to learn which file to look at; where there is none yet, that is the one
 * that would be read.
 */
export function watchConfig(
  load: () => Config,
  onChange: (config: Config) => void,
  onProblem: (error: ConfigError) => void,
  signal?: AbortSignal,
): ConfigWatch {
  let file: string | undefined;
  let found = false;
  let loaded: string | undefined;
  let seen: string | undefined;

  const attempt = (use: (config: Config) => void) => {
    loaded = seen = stateOf(file);
    try {
      const config = load();
      if (file !== undefined && found && config.file === undefined) throw gone(file);
      found = config.file !== undefined;
      const place = config.file ?? config.awaitedFile;
      if (place !== file) {
        file = place;
        loaded = seen = stateOf(file);
      }
      use(config);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      onProblem(error);
    }
  };
  const look = () => {
    const state = stateOf(file);
    if (state !== undefined && state !== loaded && state === seen) attempt(onChange);
    else seen = state;
  };

  attempt(() => {});
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  const close = () => clearInterval(timer);
  signal?.addEventListener("abort", close, { once: true });
  return { reload: () => attempt(onChange), close };
}

/** What changes when a file's content does; undefined while there is no file, as between an editor's delete and rename. */
function stateOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

function gone(file: string): ConfigError {
  return new ConfigError([
    { file, line: 1, column: 1, message: "the file is gone; the configuration read before stays" },
  ]);
}
