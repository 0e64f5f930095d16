/** A coding agent: its source, how it is run for one task with one model, and what it reports afterwards. */
export interface Agent {
  name: string;
  package: Package;
  /** The model's own name at its vendor, which the gateway's drop-in door resolves. */
  vendorModel: string;
  /** The agent's own protocol, for which the gateway uses the native lane. */
  native: string;
  arguments(task: Task): string[];
  /** Arguments that continue its last conversation, if it supports that. */
  resume?(task: Task): string[];
  /** What it reads from its standard input. */
  input?(task: Task): string;
  environment(task: Task): Record<string, string>;
  /** Files that must lie in its home folder, by their paths. */
  home(task: Task): Readonly<Record<string, object>>;
  /** It has no tools that the simulated model could call, so it only converses. */
  talksOnly?: true;
  /** Every call must be a turn of a live connection; otherwise none may be one. */
  usesWebSockets?: boolean;
  /** Models that it lets call tools in parallel; the vendor's own and one of each other wire, unless there are others. */
  parallelModels?: readonly string[];
  /** Cases besides the common task. */
  cases?: readonly Case[];
  /** Its final message, from its output. */
  lastWords(output: string): string;
  /**
   * Token totals of a conversation as the agent reports them, cached ones included: from its output, or from files in
   * its home folder that match a pattern.
   */
  tokens(output: string, inHome: (pattern: string) => string[]): Tokens;
}

/** The installed packages, at the versions that the suite was written for. */
export interface Package {
  from: "npm" | "pip";
  name: string;
  version: string;
  /** The program's file. */
  program: string;
}

/** In place of a model: the one that the agent chooses itself, which the built-in catalogue must have. */
export const DEFAULT_MODEL = "default";

export interface Task {
  prompt: string;
  /** Further arguments of this turn. */
  options: readonly string[];
  model: string;
  gatewayUrl: string;
  key: string;
}

/** A conversation with its own models. */
export interface Case {
  name: string;
  models: readonly string[];
  turns: readonly Turn[];
  /** Its answers are not streamed. */
  whole?: boolean;
  /** It has no totals to compare. */
  uncounted?: boolean;
}

/** One start of the program: the common task, unless there is a prompt. */
export interface Turn {
  prompt?: string;
  /** The common task with two files, which must be read in parallel. */
  two?: true;
  /** Files that lie in its folder, and the arguments that name them by their paths. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  options?(path: (name: string) => string): string[];
  /** What its final message must match; that of the common task by default. */
  says?: RegExp;
  /** Required output. */
  prints?: RegExp;
  /** The turn must fail, and the conversation must continue after it. */
  fails?: true;
}

export interface Tokens {
  input: number;
  output: number;
}
