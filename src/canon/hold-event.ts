import type { CanonEvent } from "./event.ts";

/**
 * Queues an event. A delta that continues the previous one is merged into it, because the whole queue is flushed in one turn of the event
 * loop and a provider may send any number of one-letter deltas (S18).
 */
export function holdEvent(held: CanonEvent[], event: CanonEvent): void {
  const last = held.at(-1);
  if (last !== undefined && "text" in last && "text" in event && last.type === event.type && last.block === event.block)
    held[held.length - 1] = { ...last, text: last.text + event.text };
  else held.push(event);
}
