import type { ModelOverlay } from "../../catalogue/catalogue.ts";

export interface ShownProblem {
  file: string;
  line: number;
  column: number;
  message: string;
}

/** The active configuration, by the names of the file; secrets are `[secret]`. */
export interface ShownConfig {
  /** `null`: there is none, and defaults apply. */
  file: string | null;
  /** Where the value of each root field comes from. */
  origins: Record<string, "file" | "environment" | "default">;
  /** The values of the file as they are written, with references in place of secrets; `null` without a file. */
  written: Readonly<Record<string, unknown>> | null;
  values: Record<string, unknown>;
  warnings: readonly ShownProblem[];
  /** Latest last. */
  reloads: readonly ShownReload[];
}

export interface ShownReload {
  at: string;
  ok: boolean;
  problems: readonly ShownProblem[];
  /** Fields that changed in the file, and need a restart. */
  restart_needed: readonly string[];
}

export interface CheckedConfig {
  ok: boolean;
  problems: readonly ShownProblem[];
  warnings: readonly ShownProblem[];
  models: number | null;
  providers: readonly string[] | null;
  restart_needed: readonly string[] | null;
}

/** The configuration for the Admin API; the program's start knows where it comes from. */
export interface AdminConfig {
  show(): ShownConfig;
  /** Undefined if there was none since the start. */
  readonly lastReload: ShownReload | undefined;
  /** Whether this text could be the configuration. Nothing is saved or applied. */
  check(text: string): CheckedConfig;
  /** The configuration of each model, by id. */
  overlays(): ReadonlyMap<string, ModelOverlay>;
}
