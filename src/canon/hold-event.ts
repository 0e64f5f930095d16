import type { CanonEvent } from "./event.ts";

/**
 * Keeps an event until its turn. A delta that continues the one before it becomes part of it: what waits comes out in one turn of the event
 * loop, and a host may send any number of deltas of a letter each (S18).
 */
export function holdEvent(held: CanonEvent[], event: CanonEvent): void {
  const last = held.at(-1);
  if (last !== undefined && "text" in last && "text" in event && last.type === event.type && last.block === event.block)
    held[held.length - 1] = { ...last, text: last.text + event.text };
  else held.push(event);
}
