import type { TextKind } from "./checked-text.ts";

/** What stands in the place of a match. Names keep to the characters of names. */
export const replacementOf = (label: string, kind: TextKind): string =>
  kind === "text" || kind === "number" ? `[redacted:${label}]` : `redacted_${label}`;
