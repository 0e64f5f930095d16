import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";

/**
 * Refuses a file that lost what an accident takes: its whole text, or every key or provider that it had. Whoever writes a file in
 * chunks, or truncates it first, leaves such ones behind for a moment, and taking one over would turn everybody away (H25). A
 * section that is there and empty was meant.
 */
export function refuseLosses(before: Config | undefined, after: Config): void {
  if (before?.file === undefined || after.file === undefined) return;
  const problem = (message: string) => new ConfigError([{ file: after.shownFile, line: 1, column: 1, message }]);
  if (after.fields.length === 0 && before.fields.length > 0) {
    throw problem("the file is empty; if that is meant, send SIGHUP");
  }
  for (const [section, had, empty] of [
    ["keys", before.keys.length, "[]"],
    ["providers", before.providers?.length ?? 0, "{}"],
  ] as const) {
    if (had === 0 || after.fields.includes(section)) continue;
    throw problem(`${section} is gone, which had ${had}; if that is meant, write ${section}: ${empty}, or send SIGHUP`);
  }
}
