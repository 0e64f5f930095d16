export interface Migration {
  /** Counts up from 1 without gaps; it is also the number in the file's name. */
  version: number;
  name: string;
  statements: readonly string[];
}
