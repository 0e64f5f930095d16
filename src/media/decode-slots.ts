import { GatewayError } from "../canon/error.ts";

/** Decoded images are large, and decoding one takes a whole core. These limit how many run and how many wait. */
const AT_ONCE = 2;
const MAX_WAITING = 64;

let running = 0;
const waiting: (() => void)[] = [];

/** Runs work that holds decoded images, when a slot is free. */
export async function withDecodeSlot<T>(work: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE) running++;
  else {
    if (waiting.length >= MAX_WAITING) {
      throw new GatewayError("overloaded", "Too many images are being converted; try again in a moment.");
    }
    // Finished work hands its slot to the next in line, so that no later call can take it.
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
