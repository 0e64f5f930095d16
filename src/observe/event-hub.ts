/** Events for live subscribers. Times are by the wall clock, in milliseconds. */
export type GatewayEvent =
  | {
      type: "call.begun";
      atMs: number;
      receipt: string;
      requestId: string;
      project: string;
      key: string;
      model: string;
      stream: boolean;
    }
  | {
      /** The first content of a stream has arrived: from now on no other offer can take over unnoticed. */
      type: "call.committed";
      atMs: number;
      receipt: string;
      project: string;
      key: string;
      model: string;
      provider: string;
    }
  | {
      type: "call.ended";
      atMs: number;
      receipt: string;
      project: string;
      key: string;
      model: string;
      provider: string;
      outcome: string;
      costNanoUsd: number;
      inputTokens: number;
      outputTokens: number;
      firstContentMs: number | undefined;
      totalMs: number;
    }
  | {
      type: "health";
      atMs: number;
      provider: string;
      credential: string | undefined;
      /** Undefined: the credential as a whole. */
      upstreamModel: string | undefined;
      state: "open" | "closed";
      openMs: number | undefined;
    }
  | {
      type: "operation";
      atMs: number;
      operation: string;
      project: string;
      key: string;
      model: string;
      provider: string;
      state: "running" | "done" | "failed";
    };

type Listener = (event: GatewayEvent) => void;

/**
 * Passes events to subscribers. Without any, a publisher only reads one field and allocates nothing: `if (events.watched)
 * events.tell({ … })`.
 */
export class EventHub {
  watched = false;
  readonly #listeners = new Set<Listener>();
  #relay: Listener | undefined;
  /** Called when the first subscriber comes, and when the last one has left. */
  onSubscribers: (areThere: boolean) => void = () => {};

  get listeners(): number {
    return this.#listeners.size;
  }

  /** The returned function unsubscribes. A listener must not throw or block. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#look();
    if (this.#listeners.size === 1) this.onSubscribers(true);
    return () => {
      if (!this.#listeners.delete(listener)) return;
      this.#look();
      if (this.#listeners.size === 0) this.onSubscribers(false);
    };
  }

  /** Passes the events of this process to the subscribers of others; undefined while there are none. */
  relayTo(relay: Listener | undefined): void {
    this.#relay = relay;
    this.#look();
  }

  tell(event: GatewayEvent): void {
    this.hear(event);
    this.#relay?.(event);
  }

  /** An event of another process. */
  hear(event: GatewayEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #look(): void {
    this.watched = this.#listeners.size > 0 || this.#relay !== undefined;
  }
}
