import type { ReceiptItem } from "../api/types.ts";
import { speed } from "../format/numbers.ts";

/** What is generated in less time arrives in one piece, which says nothing about speed. */
const SHORTEST_MS = 20;

export const generatedTokens = ({ usage: { output, reasoning } }: Pick<ReceiptItem, "usage">): number | null =>
  output === null && reasoning === null ? null : (output ?? 0) + (reasoning ?? 0);

/** Tokens per second; `null` if unknown. */
export const callSpeed = (call: Pick<ReceiptItem, "usage" | "total_ms" | "first_content_ms">): number | null =>
  call.total_ms - (call.first_content_ms ?? 0) < SHORTEST_MS
    ? null
    : speed(generatedTokens(call), call.first_content_ms, call.total_ms);
