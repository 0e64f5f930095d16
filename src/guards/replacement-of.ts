import type { TextKind } from "./checked-text.ts";

/** The text that replaces a match. In names it has only characters that names may have. */
export const replacementOf = (label: string, kind: TextKind): string =>
  kind === "text" || kind === "number" ? `[redacted:${label}]` : `redacted_${label}`;
