import type { LiveClientCodec, LiveEvent } from "../../canon/live.ts";
import type { LiveDialect } from "../../dialects/live-dialect.ts";
import type { HostConnection } from "../../relay/live/host-connection.ts";
import type { LiveCaller } from "../../relay/live/live-caller.ts";
import type { SessionMeter } from "../../relay/live/session-meter.ts";

/** The session whose client it is. */
interface ViewedSession {
  readonly id: string;
  readonly live: LiveCaller;
  readonly dialect: LiveDialect;
  readonly client: LiveClientCodec;
  readonly meter: SessionMeter;
  readonly host: HostConnection;
  readonly write: (frame: string) => void;
}

/** What the client of a session sees of its host: frames or events with the gateway's marks, and nothing of refused turns. */
export class ClientView {
  /** Set once the client has got a frame. The first one has the session's id. */
  hasSent = false;
  readonly #session: ViewedSession;
  /** Turns and work that the host has begun by itself and that were refused. */
  readonly #hidden = new Set<string>();

  constructor(session: ViewedSession) {
    this.#session = session;
  }

  /** A frame of a native session. */
  pass(frame: string, events: readonly LiveEvent[]): void {
    const { dialect, write } = this.#session;
    const isMarked = !this.hasSent || events.some(({ type }) => MARKED.has(type));
    write(isMarked ? dialect.nativeEvent(frame, this.#marks(events)) : frame);
  }

  /** An event of a translated session. */
  show(event: LiveEvent): void {
    if (this.isHidden([event])) return;
    const { client, dialect, meter, write } = this.#session;
    const isMarked = MARKED.has(event.type);
    for (const frame of client.encode(event))
      write(isMarked ? dialect.nativeEvent(frame, this.#marks([event])) : frame);
    meter.note(client.takeNotes());
  }

  /** An event of a native session. Errors that the gateway itself reports depend on whether a turn is open for the client. */
  inform(event: LiveEvent): void {
    const { client } = this.#session;
    if (event.type === "ready") client.encode({ type: "settings-applied", settings: event.settings });
    else if ((event.type === "turn-began" || event.type === "turn-ended") && !this.#hidden.has(event.id))
      client.encode(event);
  }

  hide(id: string): void {
    this.#hidden.add(id);
  }

  /** Whether they belong to a turn of which the client sees nothing. */
  isHidden(events: readonly LiveEvent[]): boolean {
    if (this.#hidden.size === 0) return false;
    const { turnId = "" } = this.#session.host.codec;
    return events.some((event) => {
      if (event.type === "turn-began" || event.type === "turn-ended") return this.#hidden.has(event.id);
      if (event.type.startsWith("input-transcript") && "itemId" in event) return this.#hidden.has(event.itemId);
      const isOfTurn = OF_TURNS.has(event.type) || (event.type === "unknown" && event.name.startsWith("response."));
      return isOfTurn && this.#hidden.has(turnId);
    });
  }

  /** What is over need not be hidden any more. */
  forget(events: readonly LiveEvent[]): void {
    if (this.#hidden.size === 0) return;
    for (const event of events) {
      if (event.type === "turn-ended") this.#hidden.delete(event.id);
      if (event.type === "input-transcript") this.#hidden.delete(event.itemId);
    }
  }

  #marks(events: readonly LiveEvent[]) {
    const { live, id, meter } = this.#session;
    const { calledAs, model } = live.resolved;
    const of = events.find((event) => event.type === "turn-began" || event.type === "turn-ended");
    const receipt = of === undefined ? undefined : meter.receiptOf(of.id);
    return {
      ...(this.hasSent ? {} : { sessionId: id }),
      ...(receipt === undefined ? {} : { receipt }),
      model: live.incoming.door === "dropin" ? calledAs : model.id,
    };
  }
}

/** Events to which the gateway adds something. */
const MARKED: ReadonlySet<string> = new Set(["ready", "settings-applied", "turn-began", "turn-ended"]);

const OF_TURNS: ReadonlySet<string> = new Set([
  "text-delta",
  "transcript-delta",
  "audio-delta",
  "reasoning-delta",
  "tool-call",
  "item-added",
]);
