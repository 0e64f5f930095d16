/** What one live connection may use, and how many a key without `limits.sessions` may open in each process. */
export interface LiveLimits {
  sessionsPerKey: number;
  /** A connection without a turn is closed after this time. */
  idleMs: number;
  /** No turn begins after this time. */
  sessionMs: number;
  maxFrameBytes: number;
  /** The rate at which a client may send. One frame of the largest size always fits. */
  bytesPerSecond: number;
  /** The same in frames, pings included. */
  framesPerSecond: number;
  /** Frames whose turns are running; or else what the client has not read. */
  inFlightBytes: number;
}
