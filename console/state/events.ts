import { signal } from "@preact/signals";
import { hasEnded, session } from "../api/client.ts";
import { probe } from "../connection/connection.ts";

/** A gateway event, as documented in docs/admin.md. */
export interface ConsoleEvent {
  type: string;
  at?: string;
  receipt?: string;
  model?: string;
  provider?: string;
  key?: string;
  outcome?: string;
}

const TYPES = ["call.begun", "call.committed", "call.ended", "health", "operation", "lagged"];

type Listener = (event: ConsoleEvent) => void;

const listeners = new Set<Listener>();
let source: EventSource | undefined;

/** Whether the event stream is open. */
export const isLive = signal(false);

/** All parts of the page share one stream. It is open while a part listens and the page is visible. */
export function listenTo(listener: Listener): () => void {
  listeners.add(listener);
  adjust();
  return () => {
    listeners.delete(listener);
    adjust();
  };
}

function adjust(): void {
  const isWanted = listeners.size > 0 && !document.hidden && Boolean(session.value) && !hasEnded.value;
  if (isWanted === (source !== undefined)) return;
  if (!isWanted) {
    source?.close();
    source = undefined;
    isLive.value = false;
    return;
  }
  source = new EventSource("/api/events");
  source.onopen = () => {
    isLive.value = true;
  };
  source.onerror = () => {
    isLive.value = false;
    void probe();
  };
  for (const type of TYPES) source.addEventListener(type, (message) => dispatch(type, message as MessageEvent<string>));
}

function dispatch(type: string, { data }: MessageEvent<string>): void {
  const event = { ...(JSON.parse(data) as Omit<ConsoleEvent, "type">), type };
  for (const listener of listeners) listener(event);
}

export function watchVisibility(): void {
  document.addEventListener("visibilitychange", adjust);
  session.subscribe(() => adjust());
  hasEnded.subscribe(() => adjust());
}
