import type { ErrorKind } from "../../canon/error.ts";

/** The meaning of a host's own error codes; the first match counts. */
export type CodeTable = readonly (readonly [pattern: RegExp, kind: ErrorKind])[];

/** Undefined if the code is unknown, so that the status decides. */
export function kindOfCode(table: CodeTable, code: string | undefined): ErrorKind | undefined {
  return code === undefined ? undefined : table.find(([pattern]) => pattern.test(code))?.[1];
}
