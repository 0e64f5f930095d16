import type { TimerOptions } from "./clock.ts";
import type { Random, Sources } from "./sources.ts";

/** 128 bits, and a little more, in base64url. */
const ID_CHARACTERS = 22;
const POOL_BYTES = 33 * 256;

/** Ids are drawn in bulk, because every call needs several, and cut from one text. */
function machineRandom(): Random {
  const bytes = Buffer.alloc(POOL_BYTES);
  let pool = "";
  let used = 0;
  return {
    bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    id: () => {
      if (used === pool.length) {
        pool = crypto.getRandomValues(bytes).toString("base64url");
        used = 0;
      }
      used += ID_CHARACTERS;
      return pool.slice(used - ID_CHARACTERS, used);
    },
  };
}

/** The offset of the monotonic clock from the time of day, read once so that measurements never step. */
const originMs = performance.timeOrigin + performance.now() - Bun.nanoseconds() / 1e6;

/** The machine's own time and randomness. Only for the program's start, the command line and tests. */
export const system: Sources = {
  clock: {
    // Two thirds of the cost of `performance.now()`, and every call reads it a dozen times.
    nowMs: () => originMs + Bun.nanoseconds() / 1e6,
    wallMs: () => Date.now(),
    soon: (run) => void setImmediate(run),
    after: (ms, run, { background = false }: TimerOptions = {}) => {
      const timer = setTimeout(run, ms);
      if (background) timer.unref();
      return () => clearTimeout(timer);
    },
    every: (ms, run, { background = false }: TimerOptions = {}) => {
      const timer = setInterval(run, ms);
      if (background) timer.unref();
      return () => clearInterval(timer);
    },
    sleep: (ms) => Bun.sleep(ms),
  },
  random: machineRandom(),
};
