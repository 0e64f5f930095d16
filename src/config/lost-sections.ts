import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";

/**
 * Refuses a file that is suddenly empty, or lost every key or provider. A program that writes a file in chunks, or truncates it
 * first, leaves such a file for a moment, and loading it would refuse every client (H25). A section that is present and empty
 * is intended.
 */
export function refuseLosses(before: Config | undefined, after: Config): void {
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
