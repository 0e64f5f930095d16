import { UsageError } from "./command.ts";

/** The value of a flag; undefined if absent. */
export function readWholeNumber(
  flag: string,
  text: string | undefined,
  least = Number.MIN_SAFE_INTEGER,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^-?[0-9]+$/.test(text) || !Number.isSafeInteger(value) || value < least || value > most) {
    throw new UsageError(`${flag}: "${text}" must be a whole number${boundsOf(least, most)}.`);
  }
  return value;
}

const MAX_PORT = 65_535;

/** 0 is any free port. */
export const readPort = (flag: string, text: string | undefined): number | undefined =>
  readWholeNumber(flag, text, 0, MAX_PORT);

function boundsOf(least: number, most: number): string {
  if (least === Number.MIN_SAFE_INTEGER) return "";
  return most === Number.MAX_SAFE_INTEGER ? ` of at least ${least}` : ` from ${least} to ${most}`;
}
