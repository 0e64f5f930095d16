const MEGABYTE = 1024 * 1024;

/** The bounds of live connections. */
export const DEFAULT_LIVE = {
  sessionsPerKey: 64,
  idleMs: 600_000,
  sessionMs: 3_300_000,
  maxFrameBytes: 16 * MEGABYTE,
  bytesPerSecond: MEGABYTE,
  framesPerSecond: 1_000,
  inFlightBytes: 32 * MEGABYTE,
};
