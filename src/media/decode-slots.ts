import { GatewayError } from "../canon/error.ts";

/** Decoded images are large and decoding takes a core each: so many at once, and so many more may wait. */
const AT_ONCE = 2;
const MAX_WAITING = 64;

let running = 0;
const waiting: (() => void)[] = [];

/** Does work that holds decoded images, when its turn has come. */
export async function withDecodeSlot<T>(work: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE) running++;
  else {
    if (waiting.length >= MAX_WAITING) {
      throw new GatewayError("overloaded", "Too many images are being converted; try again in a moment.");
    }
    // Whoever ends hands over its place, so that nobody can slip in between.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}
