/** Why an answer ended: one word of ours next to the upstream's own. */
export type UnifiedStop = "stop" | "length" | "tool" | "filter" | "pause" | "other";

export interface Stop {
  unified: UnifiedStop;
  raw: string;
}
