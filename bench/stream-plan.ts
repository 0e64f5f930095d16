/**
 * How the upstream streams: so many content chunks and then the end, or chunks at a steady rate until it is asked to
 * finish. Between the chunks of a burst there is nothing, so that the runtime joins them into as few writes as it likes;
 * or a turn of its event loop, so that each is a write of its own; or a pause of so many milliseconds.
 */
export type StreamPlan = Burst | { chunksPerSecond: number };

export interface Burst {
  burst: number;
  between: "nothing" | "turn" | number;
}
