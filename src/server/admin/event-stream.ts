import type { Cancel, Clock } from "../../base/clock.ts";
import type { EventHub, GatewayEvent } from "../../observe/event-hub.ts";

/** The most events that wait for a reader. Further ones are dropped, and the stream says how many. */
const MAX_WAITING = 1_000;
const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE = ": keep-alive\n\n";

interface StreamOptions {
  events: EventHub;
  clock: Clock;
  wanted: (event: GatewayEvent) => boolean;
  encode: (event: GatewayEvent) => object;
  /** Ends the stream: the reader has disconnected, or the gateway is stopping. */
  signal: AbortSignal;
  /** Called once, when nothing more is sent. */
  onEnd: () => void;
}

/** Events as server-sent events. A slow reader loses some, and the stream says how many; nothing waits for it. */
export function eventStream({
  events,
  clock,
  wanted,
  encode,
  signal,
  onEnd,
}: StreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const waiting: GatewayEvent[] = [];
  let dropped = 0;
  let ended = false;
  let stop: () => void = () => {};
  let wake: () => void = () => {};

  const text = (): string => {
    const parts = waiting.splice(0).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(encode(event))}\n\n`);
    if (dropped > 0) parts.push(`event: lagged\ndata: ${JSON.stringify({ type: "lagged", dropped })}\n\n`);
    dropped = 0;
    return parts.join("");
  };

  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      // The head of the response is sent with the first byte.
      controller.enqueue(encoder.encode(": watching\n\n"));
      const unwatch = events.watch((event) => {
        if (!wanted(event)) return;
        if (waiting.length < MAX_WAITING) waiting.push(event);
        else dropped += 1;
        wake();
      });
      stop = () => {
        ended = true;
        signal.removeEventListener("abort", end);
        unwatch();
        onEnd();
        wake();
      };
      const end = () => {
        stop();
        controller.close();
      };
      signal.addEventListener("abort", end, { once: true });
    },
    pull: async (controller) => {
      if (waiting.length === 0 && dropped === 0) await next(clock, (resolve) => (wake = resolve));
      if (ended) return;
      controller.enqueue(encoder.encode(text() || KEEP_ALIVE));
    },
    cancel: () => stop(),
  });
}

/** Resolves when an event has arrived, or a keep-alive is due. */
function next(clock: Clock, waits: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    let cancel: Cancel = () => {};
    const done = () => {
      cancel();
      resolve();
    };
    cancel = clock.after(KEEP_ALIVE_MS, done, { background: true });
    waits(done);
  });
}
