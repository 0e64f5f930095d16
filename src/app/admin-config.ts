import { isObject } from "../base/json.ts";
import type { Config } from "../config/config.ts";
import { ConfigError, type ConfigProblem } from "../config/config-error.ts";
import { restartFields } from "../config/restart-fields.ts";
import type { Snapshot } from "../relay/gateway.ts";
import type { AdminConfig, CheckedConfig, ShownConfig, ShownReload } from "../server/admin/admin-config.ts";

interface AdminConfigOptions {
  started: Config;
  /** Reads a text in place of the file; throws a ConfigError. */
  read: (text: string) => Config;
  /** Builds everything that follows from a configuration; throws a ConfigError. */
  build: (config: Config) => Snapshot;
  wallMs: () => number;
}

/** Reloads that are remembered. */
const MAX_RELOADS = 20;
/** Members of a configuration that describe it and are not in the file. */
const ABOUT: readonly string[] = ["file", "shownFile", "awaitedFile", "valueFiles", "fields", "written", "warnings"];
/** The operator chooses the names below these. */
const OWN_NAMES: readonly string[] = ["aliases", "pricings", "priceMultiples", "headers", "resource"];

/** The configuration as the Admin API shows it. It is updated on each reload. */
export class ConfigHistory implements AdminConfig {
  readonly #options: AdminConfigOptions;
  #current: Config;
  readonly #reloads: ShownReload[] = [];

  constructor(options: AdminConfigOptions) {
    this.#options = options;
    this.#current = options.started;
  }

  reloaded(config: Config): void {
    this.#current = config;
    this.#remember({ ok: true, problems: [], restart_needed: restartFields(this.#options.started, config) });
  }

  refused(problems: readonly ConfigProblem[]): void {
    this.#remember({ ok: false, problems, restart_needed: [] });
  }

  #remember(reload: Omit<ShownReload, "at">): void {
    this.#reloads.push({ at: new Date(this.#options.wallMs()).toISOString(), ...reload });
    if (this.#reloads.length > MAX_RELOADS) this.#reloads.shift();
  }

  /** The configuration in force. */
  get current(): Config {
    return this.#current;
  }

  get lastReload(): ShownReload | undefined {
    return this.#reloads.at(-1);
  }

  show(): ShownConfig {
    const config = this.#current;
    const shown = valuesOf(config);
    const origin = (name: string) =>
      config.fields.includes(name) ? "file" : name === "providers" ? "environment" : "default";
    return {
      file: config.file ?? null,
      origins: Object.fromEntries([...Object.keys(shown), "providers"].map((name) => [name, origin(name)])),
      written: config.written ?? null,
      values: shown,
      warnings: config.warnings,
      reloads: this.#reloads,
    };
  }

  check(text: string): CheckedConfig {
    const { started, read, build } = this.#options;
    try {
      const config = read(text);
      const { catalogue, providers } = build(config);
      return {
        ok: true,
        problems: [],
        warnings: config.warnings,
        models: catalogue.list().length,
        providers: [...providers.keys()],
        restart_needed: restartFields(started, config),
      };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { ok: false, problems: error.problems, warnings: [], models: null, providers: null, restart_needed: null };
    }
  }

  /** The providers that this text would make; throws a ConfigError. */
  providersOf(text: string): Snapshot["providers"] {
    const { read, build } = this.#options;
    return build(read(text)).providers;
  }

  overlays(): ReadonlyMap<string, Config["models"][number]> {
    return new Map(this.#current.models.map((model) => [model.id, model]));
  }
}

/** What a configuration says, under the file's names. Secrets are types that print as `[secret]`, and URLs hide their passwords. */
export function valuesOf(config: Config, replacer?: (this: unknown, name: string, value: unknown) => unknown) {
  const plain = JSON.parse(JSON.stringify(config, replacer)) as Record<string, unknown>;
  const values = Object.fromEntries(Object.entries(plain).filter(([name]) => !ABOUT.includes(name)));
  return inFileNames(values) as Record<string, unknown>;
}

/** The same values under the file's names: `maxOutputTokens` → `max_output_tokens`. */
function inFileNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inFileNames);
  if (!isObject(value)) return value;
  const renamed = Object.entries(value).map(([name, member]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    OWN_NAMES.includes(name) ? member : inFileNames(member),
  ]);
  return Object.fromEntries(renamed);
}
