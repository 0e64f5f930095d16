/** How a coding agent is installed and told to do one thing with one model. */
export interface Agent {
  name: string;
  /** Its package on npm, and the version that the suite was written for. */
  package: string;
  version: string;
  /** The file below `node_modules/.bin`. */
  program: string;
  /** The wire that the agent speaks itself: there the gateway takes its native lane. */
  native: string;
  arguments(task: Task): string[];
  environment(task: Task): Record<string, string>;
  /** Files that must lie in its home folder. */
  home: Readonly<Record<string, object>>;
  /** Its last words, from what it printed. */
  lastWords(output: string): string;
}

export interface Task {
  prompt: string;
  model: string;
  gatewayUrl: string;
  key: string;
}
