import type { Storage } from "../storage.ts";

/** A statement that both engines take, or one that is written for each. */
export type Statement = string | ((engine: Storage["engine"]) => string);

export interface Migration {
  /** Counts up; it is also the number in the file's name. */
  version: number;
  name: string;
  statements: readonly Statement[];
}
