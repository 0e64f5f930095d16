/**
 * The only import of the simulator. It is loaded only if enabled, so that a process without it runs neither its code nor the
 * package that encodes its videos (docs/decisions/0002).
 */
export const loadSimulator = () => import("../../simulator/simulator.ts");

/** The voice of the simulator, which speaks without it. */
export const loadVoice = () => import("../../simulator/voice/say-aloud.ts");

/** The thread of the compiled program that renders the simulator's videos. */
export const loadVideoThread = () => import("../../simulator/media-maker/video-worker.ts");
