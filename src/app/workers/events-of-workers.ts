import type { EventHub } from "../../observe/event-hub.ts";

/** Shares events with the other workers. */
export interface EventsOfWorkers {
  connect(hub: EventHub): void;
}
