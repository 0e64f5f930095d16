const DIGITS = 9;

/** The moment at the head of an id: such ids sort by time, and a growing table takes them at its end. */
export const timePrefix = (nowMs: number): string => Math.floor(nowMs).toString(36).padStart(DIGITS, "0");

/** How the id of every receipt begins. */
export const RECEIPT_PREFIX = "rcp_";
