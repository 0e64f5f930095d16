/** A coding agent: where it comes from, how it is run for one task with one model, and what it reports afterwards. */
export interface Agent {
  name: string;
  package: Package;
  /** The model's own name at its vendor, which the gateway's drop-in door resolves. */
  vendorModel: string;
  /** The wire that the agent speaks itself: there the gateway takes its native lane. */
  native: string;
  arguments(task: Task): string[];
  /** Arguments with which it goes on with its last conversation, where it can. */
  resume?(task: Task): string[];
  /** What it reads from its standard input. */
  input?(task: Task): string;
  environment(task: Task): Record<string, string>;
  /** Files that must lie in its home folder, by their paths. */
  home(task: Task): Readonly<Record<string, object>>;
  /** It has no tools of its own that the simulated model could call, and is only talked to. */
  talksOnly?: true;
  /** Models that it lets call tools in parallel; the vendor's own and one of each other wire, unless there are others. */
  parallelModels?: readonly string[];
  /** What it is tried with besides the common task. */
  cases?: readonly Case[];
  /** Its last words, from what it printed. */
  lastWords(output: string): string;
  /**
   * Tokens as the agent itself adds them up over its conversation, cached ones included: from what it printed, or from the files of its
   * home folder that match a pattern.
   */
  tokens(output: string, inHome: (pattern: string) => string[]): Tokens;
}

/** What is installed, at the version that the suite was written for. */
export interface Package {
  from: "npm" | "pip";
  name: string;
  version: string;
  /** The program's file. */
  program: string;
}

export interface Task {
  prompt: string;
  /** Further arguments of this turn. */
  options: readonly string[];
  model: string;
  gatewayUrl: string;
  key: string;
}

/** A conversation with models of its own. */
export interface Case {
  name: string;
  models: readonly string[];
  turns: readonly Turn[];
  /** Its answers are not streamed. */
  whole?: boolean;
  /** It has no sums of its own here that could be compared. */
  uncounted?: boolean;
}

/** One start of the program: the common task, unless there is a prompt. */
export interface Turn {
  prompt?: string;
  /** The common task with two files, which are to be read in parallel. */
  two?: true;
  /** Files that lie in its folder, and the arguments that name them by their paths. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  options?(path: (name: string) => string): string[];
  /** What its last words must be like; those of the common task, unless there are others. */
  says?: RegExp;
  /** What must be in what it prints. */
  prints?: RegExp;
  /** The turn is to fail, and the conversation to go on after it. */
  fails?: true;
}

export interface Tokens {
  input: number;
  output: number;
}
