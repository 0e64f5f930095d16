import type { EventHub, GatewayEvent } from "../../observe/event-hub.ts";
import type { EventsOfWorkers } from "./events-of-workers.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/** The most events that wait while the first process is busy. Further ones are dropped, as for a slow reader. */
const MAX_WAITING = 1_000;

/** Sends events through the process that has started this one, while someone reads them at another worker. */
export class ParentEvents implements EventsOfWorkers {
  readonly #tell: (message: FromWorker) => void;
  #waiting: string[] = [];
  #isSending = false;

  constructor(tell: (message: FromWorker) => void) {
    this.#tell = tell;
  }

  connect(hub: EventHub): void {
    hub.onSubscribers = (areWanted) => this.#tell({ kind: "events-wanted", areWanted });
    process.on("message", (message: ToWorker) => {
      if (message.kind === "events-wanted") hub.relayTo(message.areWanted ? (event) => this.#add(event) : undefined);
      else if (message.kind === "events") for (const text of message.events) hub.hear(JSON.parse(text) as GatewayEvent);
      else if (message.kind === "events-taken") this.#send();
    });
  }

  #add(event: GatewayEvent): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    // JSON has no undefined: the field would be missing.
    this.#waiting.push(JSON.stringify(event, (_name, value: unknown) => value ?? null));
    if (!this.#isSending) this.#send();
  }

  #send(): void {
    this.#isSending = this.#waiting.length > 0;
    if (this.#isSending) this.#tell({ kind: "events", events: this.#waiting.splice(0) });
  }
}
