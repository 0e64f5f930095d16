export interface ConfigProblem {
  file: string;
  line: number;
  column: number;
  message: string;
}

/** Everything that is wrong with a configuration file, one line each. No value of the file is repeated: it may be a secret. */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[];

  constructor(problems: ConfigProblem[]) {
    super(problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}
