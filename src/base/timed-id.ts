const DIGITS = 9;

/** The last one that was made: many ids are made in one millisecond. */
let madeMs = -1;
let made = "";

/** The moment at the head of an id: such ids sort by time, and a growing table takes them at its end. */
export function timePrefix(nowMs: number): string {
  const ms = Math.floor(nowMs);
  if (ms !== madeMs) {
    madeMs = ms;
    made = ms.toString(36).padStart(DIGITS, "0");
  }
  return made;
}

/** How the id of every receipt begins. */
export const RECEIPT_PREFIX = "rcp_";
/** The same of requests. */
export const REQUEST_PREFIX = "req_";
