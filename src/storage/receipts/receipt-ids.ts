import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";

/** No receipt of that time or later has a smaller id. Ids are truncated to the millisecond, not rounded. */
export const firstIdOf = (sinceMs: number): string => RECEIPT_PREFIX + timePrefix(Math.max(0, sinceMs - 1));

/** Every receipt before that time has a smaller id. */
export const endIdOf = (untilMs: number): string => RECEIPT_PREFIX + timePrefix(Math.max(0, untilMs));

/** The time at the start of a receipt's id; undefined if it is not an id. */
export function timeOfId(id: string): number | undefined {
  const digits = /^rcp_([0-9a-z]{9})/.exec(id)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 36);
}
