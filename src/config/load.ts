import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { checkReferences, type Incomplete } from "./check-references.ts";
import type { Config } from "./config.ts";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { readDocument } from "./document.ts";
import { hidePasswords } from "./hide-passwords.ts";
import { type ProviderKind, readProviders } from "./read-providers.ts";
import { readValue, type Shape, shapeOf } from "./read-values.ts";
import { type ProviderFile, RootFile } from "./schema.ts";
import { toConfig } from "./to-config.ts";

export { ConfigError } from "./config-error.ts";
export type { ProviderKind } from "./read-providers.ts";

export interface LoadOptions {
  /** A file that somebody asked for: it must be there. Without one, `trivium.yaml` in `cwd` is read if it exists. */
  path?: string;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  kinds: ReadonlyMap<string, ProviderKind>;
}

/** Of `providers` only the name is known here: its fields depend on the kinds, and readProviders reads them. */
const ROOT: Shape = { ...shapeOf(RootFile), properties: { ...shapeOf(RootFile).properties, providers: {} } };

/** Reads the configuration, or throws a ConfigError that tells everything that is wrong with it. */
export function loadConfig({ path, cwd, environment, kinds }: LoadOptions): Config {
  const file = resolve(cwd, path ?? "trivium.yaml");
  if (path === undefined && !existsSync(file)) {
    return hidePasswords({ awaitedFile: file, ...toConfig({}, undefined, cwd) });
  }

  const shownFile = shownPath(file, cwd);
  const problems: ConfigProblem[] = [];
  const report = ({ line, column }: { line: number; column: number }, message: string) => {
    problems.push({ file: shownFile, line, column, message });
  };
  const root = readDocument(readText(file, shownFile), report);
  const folder = dirname(file);
  const context = { environment, report };
  let values: Incomplete<RootFile> = {};
  let providers: Map<string, ProviderFile> | undefined;
  if (root?.kind === "map") {
    const entries = new Map(root.entries);
    const section = entries.get("providers")?.node;
    entries.delete("providers");
    values = readValue({ ...root, entries }, ROOT, "", context) as Incomplete<RootFile>;
    if (section !== undefined) providers = readProviders(section, kinds, folder, context);
    checkReferences(values, root, kinds.keys(), report);
  } else if (root !== undefined) report(root.place, "the file must be a mapping of fields");
  if (problems.length > 0) throw new ConfigError(problems.sort(byPlace));
  return hidePasswords({ file, ...toConfig(values as RootFile, providers, folder) });
}

function readText(file: string, shownFile: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : `it cannot be read (${error})`;
    throw new ConfigError([{ file: shownFile, line: 1, column: 1, message: reason }]);
  }
}

function shownPath(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return short.startsWith("..") || isAbsolute(short) ? file : short;
}

function byPlace(one: ConfigProblem, other: ConfigProblem): number {
  return one.line - other.line || one.column - other.column;
}
