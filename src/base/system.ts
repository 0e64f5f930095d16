import type { TimerOptions } from "./clock.ts";
import type { Random, Sources } from "./sources.ts";

const ID_BYTES = 16;
const POOL_BYTES = ID_BYTES * 512;

/** The random bytes of ids are drawn in bulk, because every call needs several. */
function machineRandom(): Random {
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  return {
    bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    id: () => {
      if (used === POOL_BYTES) {
        crypto.getRandomValues(pool);
        used = 0;
      }
      used += ID_BYTES;
      return pool.toString("base64url", used - ID_BYTES, used);
    },
  };
}

/** By how much the monotonic clock differs from the time of day, once: what the program measures with it never steps. */
const originMs = performance.timeOrigin + performance.now() - Bun.nanoseconds() / 1e6;

/** The machine's own time and randomness. For the program's start, the command line and tests alone. */
export const system: Sources = {
  clock: {
    // Two thirds of the price of `performance.now()`, and every call asks a dozen times.
    nowMs: () => originMs + Bun.nanoseconds() / 1e6,
    wallMs: () => Date.now(),
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
