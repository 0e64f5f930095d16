/** No machine is so busy that what a test waits for takes longer. */
const PATIENCE_MS = 120_000;
const POLL_MS = 10;

interface Patience {
  /** Shown when nothing came of it, where the condition alone says too little. */
  seen?: () => unknown;
  withinMs?: number;
}

/**
 * Waits in real time for what another process, a socket or a disk does, and returns the first result that is not falsy. An error
 * ends the wait: the condition throws when there is nothing left to wait for. In memory, use `VirtualClock` instead.
 */
export async function eventually<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  { seen, withinMs = PATIENCE_MS }: Patience = {},
): Promise<NonNullable<Value>> {
  for (const untilMs = performance.now() + withinMs; ; await Bun.sleep(POLL_MS)) {
    const value = await condition();
    if (value) return value;
    if (performance.now() < untilMs) continue;
    throw new Error(`waited ${withinMs / 1000} s for ${what}; last seen: ${Bun.inspect(seen ? seen() : value)}`);
  }
}

/** How often a value is seen unchanged before it counts as final. */
const UNCHANGED = 20;

/**
 * Waits until a value no longer changes, and returns it: for what must come to a stop, such as a sender that nobody reads from. A slow
 * machine only makes it look earlier, which a test must allow.
 */
export async function atRest<Value>(what: string, read: () => Value | Promise<Value>): Promise<Value> {
  let last = await read();
  let unchanged = 0;
  await eventually(`${what} to come to rest`, async () => {
    const value = await read();
    unchanged = value === last ? unchanged + 1 : 0;
    last = value;
    return unchanged === UNCHANGED;
  });
  return last;
}

/**
 * Lets what was sent arrive on its own, so that the next part is read separately. On a busy machine they may still arrive together: a
 * test must pass then too.
 */
export const shortPause = (): Promise<void> => Bun.sleep(20);
