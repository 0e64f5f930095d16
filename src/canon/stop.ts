/** Why a response ended: a unified reason, and the upstream's own. */
export type UnifiedStop = "stop" | "length" | "tool" | "filter" | "pause" | "other";

export interface Stop {
  unified: UnifiedStop;
  raw: string;
}
