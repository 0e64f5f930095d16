/**
 * How the upstream streams. A burst goes out as fast as it can: `together` lets the runtime join the chunks into as few
 * writes as it likes, otherwise each chunk is a write of its own. A pace lasts until the upstream is told to finish.
 */
export type StreamPlan = { burst: number; together: boolean } | { chunksPerSecond: number };
