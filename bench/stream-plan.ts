/** Either a burst of so many content chunks, or chunks at a steady pace until the upstream is told to finish. */
export type StreamPlan = { burst: number } | { chunksPerSecond: number };
