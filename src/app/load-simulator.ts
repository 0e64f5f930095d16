/**
 * The only import of the simulator: it is loaded if switched on, so that a process without it runs none of its code, nor the
 * package that encodes its videos (docs/decisions/0002).
 */
export const loadSimulator = () => import("../../simulator/simulator.ts");

/** What the compiled program runs in a thread: the simulator's videos, which take all of one. */
export const loadVideoThread = () => import("../../simulator/media-maker/video-worker.ts");
