import type { CreateEvent } from "../../dialects/responses/live/client-event.ts";
import {
  type EventMarks,
  encodeCancelled,
  encodeEvent,
  type RefusedTurn,
  type ShownResponse,
} from "../../dialects/responses/live/server-event.ts";
import { writeTurn } from "../../relay/answer/client-output.ts";
import { EventOutput, type StreamedEvent } from "../../relay/answer/event-output.ts";
import { readEvents } from "../../relay/attempt/read-events.ts";
import type { RunTurn, TurnConnection } from "./live-socket.ts";

/** What a turn needs of its session. */
interface TurnSession {
  /** The marks of the next event. */
  marks(streamId: string | undefined): EventMarks;
  send(frame: string): void;
  together(write: () => void): void;
  /** Resolves when the client has read what it was sent, or is gone. */
  read(): Promise<void>;
  refuse(refused: RefusedTurn, streamId: string | undefined): void;
  /** The turn has a proper end. */
  completed(turn: ResponsesTurn, response: ShownResponse): void;
}

/** Headers of a refusal that an event repeats. */
const SHOWN_HEADERS = /^(retry-after|x-should-retry|x-request-id|x-ratelimit-.*|x-trivium-.*)$/;

/** One turn of a session: a request, and its response as frames. */
export class ResponsesTurn {
  readonly event: CreateEvent;
  /** The id of its response, unless that is stored. */
  readonly id: string;
  readonly streamId: string | undefined;
  /** The size of its frame. */
  readonly bytes: number;
  readonly #session: TurnSession;
  readonly #controller = new AbortController();
  #receipt: string | undefined;
  #response: ShownResponse | undefined;
  /** How many events were sent, and so the number of the next. */
  #sent = 0;
  #isCancelled = false;

  constructor(
    { event, id, streamId, bytes }: Pick<ResponsesTurn, "event" | "id" | "streamId" | "bytes">,
    session: TurnSession,
  ) {
    this.event = event;
    this.id = id;
    this.streamId = streamId;
    this.bytes = bytes;
    this.#session = session;
  }

  /** Fires when nobody waits for the response any more. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Undefined until the client knows it. */
  get responseId(): string | undefined {
    return this.#response?.id;
  }

  /** Resolves when the turn is over, and billed. */
  async run(run: RunTurn, request: Request, connection: TurnConnection): Promise<void> {
    const response = await run(request, connection);
    this.#receipt = response.headers.get("x-trivium-receipt") ?? undefined;
    if (!response.ok) {
      const headers = Object.fromEntries([...response.headers].filter(([name]) => SHOWN_HEADERS.test(name)));
      this.#session.refuse({ status: response.status, body: await response.text(), headers }, this.streamId);
      return;
    }
    const output = new EventOutput({
      take: (event) => this.#take(event),
      together: (write) => this.#session.together(write),
      read: () => this.#session.read(),
    });
    if (await writeTurn(response, output)) return;
    for await (const events of readEvents(response)) {
      output.write(events);
      await output.flush(true);
    }
  }

  /** Ends it for the client, which has asked for that. The provider is read for a moment longer, to learn what it used. */
  cancel(): void {
    this.#isCancelled = true;
    if (this.#response !== undefined)
      this.#session.send(encodeCancelled(this.#response.text, this.#sent, this.#session.marks(this.streamId)));
    this.leave();
  }

  /** The client is gone. */
  leave(): void {
    this.#controller.abort();
  }

  #take(event: StreamedEvent): void {
    if (this.#isCancelled) return;
    const turn = { id: this.id, receipt: this.#receipt, previous: this.event.previous };
    const { frame, response } = encodeEvent(event, this.#session.marks(this.streamId), turn);
    this.#sent++;
    if (response !== undefined) this.#response = response;
    if (response?.isDone) this.#session.completed(this, response);
    this.#session.send(frame);
  }
}
