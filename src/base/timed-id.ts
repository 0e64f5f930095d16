const DIGITS = 9;

/** The last one that was made: many ids are made in one millisecond. */
let madeMs = -1;
let made = "";

/** The timestamp at the start of an id: such ids sort by time, and a table appends them at its end. */
export function timePrefix(nowMs: number): string {
  const ms = Math.floor(nowMs);
  if (ms !== madeMs) {
    madeMs = ms;
    made = ms.toString(36).padStart(DIGITS, "0");
  }
  return made;
}

/** Prefix of receipt ids. */
export const RECEIPT_PREFIX = "rcp_";
/** Prefix of request ids. */
export const REQUEST_PREFIX = "req_";
