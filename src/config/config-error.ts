export interface ConfigProblem {
  file: string;
  line: number;
  column: number;
  message: string;
}

/** One line in the format of compilers. */
export function tellProblem({ file, line, column, message }: ConfigProblem): string {
  return `${file}:${line}:${column}: ${message}`;
}

/** All problems of a configuration file, one line each. Values are not repeated, because they may be secrets. */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[];

  constructor(problems: ConfigProblem[]) {
    super(problems.map(tellProblem).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}
