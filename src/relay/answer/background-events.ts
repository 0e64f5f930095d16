import { parseObject } from "../../base/json.ts";
import { readFrames } from "../../wire/sse.ts";
import { readEvents } from "../attempt/read-events.ts";

/** The limit for one stream, in characters. Beyond it, the oldest events are dropped. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** The limits for all streams together. Streams that have ended are dropped first, the oldest before the others. */
const MAX_ALL_CHARACTERS = 64 * 1024 * 1024;
const MAX_LOGS = 1_000;

interface KeptEvent {
  /** The sequence number of the protocol; undefined if the event has none. */
  number: number | undefined;
  text: string;
}

/** The events of a background response, for clients that read it while it is generated, or again later. */
export class EventLog {
  #events: KeptEvent[] = [];
  /** How many events were dropped. */
  #gone = 0;
  #characters = 0;
  #ended = false;
  #changed = Promise.withResolvers<void>();
  /** The last event, parsed. */
  last: ReturnType<typeof parseObject>;

  get ended(): boolean {
    return this.#ended;
  }

  get characters(): number {
    return this.#characters;
  }

  /** The number of the next event. */
  get next(): number {
    return (this.#events.at(-1)?.number ?? -1) + 1;
  }

  push(text: string, numberOf: (event: object) => number | undefined): void {
    for (const { raw, data } of readFrames(text)) {
      const event = data === undefined ? undefined : parseObject(data);
      // Comments keep a connection alive. Each reader gets its own.
      if (event === undefined) continue;
      this.last = event;
      this.#events.push({ number: numberOf(event), text: raw });
      this.#characters += raw.length;
    }
    while (this.#characters > MAX_CHARACTERS && this.#events.length > 1) {
      this.#characters -= this.#events.shift()?.text.length ?? 0;
      this.#gone++;
    }
    this.#notify();
  }

  /** Takes all of a stream. */
  async take(response: Response, numberOf: (event: object) => number | undefined): Promise<void> {
    for await (const text of readEvents(response)) this.push(text, numberOf);
  }

  end(): void {
    this.#ended = true;
    this.#notify();
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  /** Yields events after this number as they arrive. Ends early for a reader so slow that its next event was dropped. */
  async *follow(after: number): AsyncGenerator<string, void> {
    let at = this.#gone;
    for (;;) {
      const changed = this.#changed.promise;
      if (at < this.#gone) return;
      const fresh = this.#events.slice(at - this.#gone);
      at += fresh.length;
      const text = fresh.flatMap((event) => ((event.number ?? after + 1) > after ? [event.text] : [])).join("");
      if (text !== "") yield text;
      else if (this.#ended) return;
      else await changed;
    }
  }
}

/** The streams of background responses that this process generates, or generated recently. */
export class BackgroundEvents {
  readonly #logs = new Map<string, { project: string; log: EventLog }>();

  open(project: string, id: string): EventLog {
    this.#makeRoom();
    const log = new EventLog();
    this.#logs.set(id, { project, log });
    return log;
  }

  find(project: string, id: string): EventLog | undefined {
    const found = this.#logs.get(id);
    return found?.project === project ? found.log : undefined;
  }

  #makeRoom(): void {
    let characters = [...this.#logs.values()].reduce((sum, { log }) => sum + log.characters, 0);
    for (const [id, { log }] of this.#logs) {
      if (characters <= MAX_ALL_CHARACTERS && this.#logs.size < MAX_LOGS) return;
      if (!log.ended) continue;
      characters -= log.characters;
      this.#logs.delete(id);
    }
  }
}
