import type { Stop, UnifiedStop } from "../../canon/stop.ts";

const PREFIX = "FINISH_REASON_";

const UNIFIED: Readonly<Record<string, UnifiedStop>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "filter",
  RECITATION: "filter",
  BLOCKLIST: "filter",
  PROHIBITED_CONTENT: "filter",
  SPII: "filter",
  IMAGE_SAFETY: "filter",
  IMAGE_PROHIBITED_CONTENT: "filter",
  IMAGE_RECITATION: "filter",
  MODEL_ARMOR: "filter",
};

/** Upstreams write `STOP`, the contract `FINISH_REASON_STOP`; both are read. */
export const bareFinishReason = (raw: string): string => (raw.startsWith(PREFIX) ? raw.slice(PREFIX.length) : raw);

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED[bareFinishReason(raw)] ?? "other", raw });

/** The contract's spelling, or the vendor's: there only UNSPECIFIED keeps the prefix. */
export function encodeFinishReason(raw: string, bare: boolean): string {
  const word = bareFinishReason(raw);
  return bare && word !== "UNSPECIFIED" ? word : PREFIX + word;
}
