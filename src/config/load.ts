import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { withoutAbsent } from "../base/without-absent.ts";
import { checkConfig } from "./check-config.ts";
import { checkReferences, type Incomplete, type KnownModels } from "./check-references.ts";
import type { Config } from "./config.ts";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { NOWHERE, readDocument } from "./document.ts";
import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";
import { type ProviderKind, readProviders } from "./read-providers.ts";
import { type ConfigSchema, configSchema, readValue } from "./read-values.ts";
import type { ModelFile } from "./schema/model-file.ts";
import { RootFile } from "./schema.ts";
import { toConfig } from "./to-config.ts";
import { ValueFiles } from "./value-files.ts";
import type { SecretReading } from "./variables.ts";
import { withoutPassword } from "./without-password.ts";
import { writtenValues } from "./written-values.ts";

export type { KnownModels } from "./check-references.ts";
export { ConfigError, tellProblem } from "./config-error.ts";
export type { ProviderKind } from "./read-providers.ts";

export interface LoadOptions {
  /** A file that is named must exist. Without one, `trivium.yaml` in `cwd` is read if it exists. */
  path?: string;
  /** Read in place of the file. */
  text?: string;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  kinds: ReadonlyMap<string, ProviderKind>;
  prices: KnownPrices;
  models: KnownModels;
  /** Reads secrets of stores; absent: none can be read. */
  secrets?: { read(reference: string): SecretReading };
  /** Values from the command line, which override the file. */
  overrides?: Overrides;
  /**
   * The sections of the file to read; default: all. The others get their defaults, and mistakes in them are not reported: a
   * command that needs only the storage runs without the providers' keys.
   */
  sections?: readonly (keyof RootFile)[];
}

export interface Overrides {
  host?: string;
  port?: number;
  adminPort?: number;
  workers?: number | "auto";
}

const MAX_PORT = 65_535;

/** Of `providers` only the name is known here: its fields depend on the kinds, and readProviders reads them. */
const ROOT: ConfigSchema = {
  ...configSchema(RootFile),
  properties: { ...configSchema(RootFile).properties, providers: {} },
};

/** Reads the configuration, or throws a ConfigError with all of its problems. */
export function loadConfig(options: LoadOptions): Config {
  const { path, text, cwd, overrides = {} } = options;
  const file = resolve(cwd, path ?? "trivium.yaml");
  if (path === undefined && text === undefined && !existsSync(file)) {
    const none = { awaitedFile: file, shownFile: shownPath(file, cwd), valueFiles: [], fields: [], warnings: [] };
    return hidePasswords({ ...none, ...toConfig(overridden({}, overrides), undefined, cwd) });
  }

  const shownFile = shownPath(file, cwd);
  const source = text ?? readText(file, shownFile);
  return loadUnplaced(source, file, shownFile, options) ?? loadPlaced(source, file, shownFile, options);
}

/** Undefined if there is a problem whose position is unknown. */
function loadUnplaced(source: string, file: string, shownFile: string, options: LoadOptions): Config | undefined {
  const root = readDocument(source);
  if (root === undefined) return undefined;
  try {
    const config = interpret(root, file, shownFile, options, []);
    return config.warnings.some(({ line }) => line === NOWHERE.line) ? undefined : config;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function loadPlaced(source: string, file: string, shownFile: string, options: LoadOptions): Config {
  const { readPlacedDocument } = require("./placed-document.ts") as typeof import("./placed-document.ts");
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems, shownFile);
  const root = readPlacedDocument(source, report);
  if (root !== undefined && root.kind !== "map") report(root.position, "the file must contain a mapping of fields");
  if (root?.kind !== "map") throw mistakes(problems);
  return interpret(root, file, shownFile, options, problems);
}

const reportTo =
  (list: ConfigProblem[], file: string): Report =>
  ({ line, column }, message) =>
    void list.push({ file, line, column, message });

/** Throws a ConfigError with `problems` and all others if there is any. */
function interpret(
  root: MapNode,
  file: string,
  shownFile: string,
  { environment, kinds, prices, models, sections, secrets, overrides = {} }: LoadOptions,
  problems: ConfigProblem[],
): Config {
  const report = reportTo(problems, shownFile);
  if (sections !== undefined) keepSections(root.entries, sections);

  const folder = dirname(file);
  const files = new ValueFiles(folder);
  const readSecret = secrets && ((reference: string) => secrets.read(reference));
  const context = {
    environment,
    readFile: (path: string) => files.read(path),
    ...withoutAbsent({ readSecret }),
    report,
  };
  const entries = new Map(root.entries);
  const section = entries.get("providers")?.node;
  entries.delete("providers");
  const values = readValue({ ...root, entries }, ROOT, "", context) as Incomplete<RootFile>;
  const providers = section === undefined ? undefined : readProviders(section, kinds, folder, context);
  checkReferences(values, root, kinds.keys(), models, report);
  if (problems.length > 0) throw mistakes(problems);

  const whole = overridden(values as RootFile, overrides);
  const config = toConfig(whole, providers, folder);
  checkConfig(config, root, report);
  if (problems.length > 0) throw mistakes(problems);
  const warnings: ConfigProblem[] = [];
  reportUnpriced(whole.models ?? [], prices, root, reportTo(warnings, shownFile));
  return hidePasswords({
    file,
    shownFile,
    valueFiles: files.paths,
    fields: fieldsOf(root),
    written: writtenValues(root, config),
    warnings,
    ...config,
  });
}

function keepSections(entries: MapNode["entries"], sections: readonly string[]): void {
  for (const name of entries.keys()) if (!sections.includes(name)) entries.delete(name);
}

/** A field without a value counts as absent. */
function fieldsOf({ entries }: MapNode): string[] {
  return [...entries].flatMap(([name, { node }]) => (node.kind === "scalar" && node.value === null ? [] : [name]));
}

function overridden(file: RootFile, { host, port, adminPort, workers }: Overrides): RootFile {
  const server = withoutAbsent({ host, port, workers });
  const nextPort = adminPort ?? (file.admin?.port === undefined ? portNextTo(port) : undefined);
  const admin = withoutAbsent({ port: nextPort });
  return { ...file, server: { ...file.server, ...server }, admin: { ...file.admin, ...admin } };
}

/** A second gateway that is started with only `--port` does not collide with the Admin API of the first. */
function portNextTo(port: number | undefined): number | undefined {
  if (port === undefined || port === 0) return port;
  return port < MAX_PORT ? port + 1 : port - 1;
}

const mistakes = (problems: ConfigProblem[]) => new ConfigError(problems.sort(byPosition));

function readText(file: string, shownFile: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT"
        ? "the file does not exist"
        : `cannot read the file (${error})`;
    throw new ConfigError([{ file: shownFile, line: 1, column: 1, message: reason }]);
  }
}

function shownPath(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return short.startsWith("..") || isAbsolute(short) ? file : short;
}

function byPosition(one: ConfigProblem, other: ConfigProblem): number {
  return one.line - other.line || one.column - other.column;
}

/**
 * Makes a configuration that is printed by accident show no password (S10). Credentials are secrets by type; the URLs of the
 * storage and of the file store are plain text that may contain one.
 */
function hidePasswords(config: Config): Config {
  const shown = () => ({
    ...config,
    storage: withoutPassword(config.storage),
    files: withoutPassword(config.files),
  });
  return Object.defineProperties(config, {
    toJSON: { value: shown },
    [Symbol.for("nodejs.util.inspect.custom")]: { value: shown },
  });
}

/** The prices that are known without the file. */
export interface KnownPrices {
  has(id: string): boolean;
  /** The id that a misspelt one most likely meant. */
  near(id: string): string | undefined;
}

/** Models without a price. `pricings: {}` says that a model is free. */
function reportUnpriced(models: readonly ModelFile[], known: KnownPrices, root: MapNode, report: Report): void {
  for (const [index, { id, pricings, offers }] of models.entries()) {
    const isPriced = pricings !== undefined || offers?.every((offer) => offer.pricings !== undefined) === true;
    if (isPriced || known.has(id)) continue;
    const near = known.near(id);
    const right = "set its pricings, or write pricings: {} if it is free";
    const advice = near === undefined ? right : `did you mean ${near}? Otherwise ${right}`;
    const message = `models[${index}] has no price, so its calls are refused or not billed; ${advice}`;
    report(positionAt(root, ["models", index, "id"]), message);
  }
}
