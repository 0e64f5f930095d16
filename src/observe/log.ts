import pino from "pino";

/** Structured lines on standard error; standard output belongs to what a person asked the program to print. */
export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error">;

/** From everything to nothing. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export function createLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
}
