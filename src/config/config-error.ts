export interface ConfigProblem {
  file: string;
  line: number;
  column: number;
  message: string;
}

/** One line, as compilers write it. */
export function tellProblem({ file, line, column, message }: ConfigProblem): string {
  return `${file}:${line}:${column}: ${message}`;
}

/** Everything that is wrong with a configuration file, one line each. No value of the file is repeated: it may be a secret. */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[];

  constructor(problems: ConfigProblem[]) {
    super(problems.map(tellProblem).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}
