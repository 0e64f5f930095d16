import type { JsonObject } from "../src/base/json.ts";
import type { LiveSocket, SocketHandler } from "../src/server/live/live-socket.ts";
import type { RequestHandler, ServedConnection } from "../src/server/request-handler.ts";
import type { VirtualClock } from "./virtual-clock.ts";

interface TimedEvent extends JsonObject {
  type: string;
}

/** A client of a live connection, without a socket. */
export class LiveClient implements LiveSocket {
  /** What it has received. */
  readonly events: TimedEvent[] = [];
  /** How the connection was closed, and by whom. */
  closed: { code: number; reason: string } | undefined;
  /** Set by a test, for a client that reads nothing. */
  waitingBytes = 0;
  readonly #handler: SocketHandler;
  readonly #clock: VirtualClock;
  #arrived = Promise.withResolvers<void>();

  private constructor(handler: SocketHandler, clock: VirtualClock) {
    this.#handler = handler;
    this.#clock = clock;
  }

  /** Throws with the status of a refusal. */
  static async open(
    handle: RequestHandler,
    clock: VirtualClock,
    url: string,
    headers: Record<string, string>,
  ): Promise<LiveClient> {
    let handler: SocketHandler | undefined;
    const connection: ServedConnection = {
      address: "127.0.0.1",
      trusted: false,
      held: false,
      hold: () => {},
      rest: () => {},
      hangUp: () => {},
      upgrade: (given) => {
        handler = given;
        return new Response();
      },
    };
    const handshake = { host: new URL(url).host, upgrade: "websocket", connection: "Upgrade", ...headers };
    const response = await clock.until(handle(new Request(url, { headers: handshake }), connection));
    if (handler === undefined) throw new Error(`${response.status} ${await response.text()}`);
    const client = new LiveClient(handler, clock);
    handler.opened(client, handle);
    return client;
  }

  /** Sends an event, or a text as it is. */
  say(event: object | string): void {
    this.#handler.message(typeof event === "string" ? event : JSON.stringify(event));
  }

  sayBytes(bytes: Uint8Array): void {
    this.#handler.message(bytes);
  }

  ping(): void {
    this.#handler.pinged();
  }

  /** Lets time pass until an event of this type has arrived, after those that were there before. */
  async hears(type: string, after = 0): Promise<JsonObject> {
    for (;;) {
      const found = this.events.slice(after).find((event) => event.type === type);
      if (found !== undefined) return found;
      await this.#clock.until(this.#arrived.promise);
    }
  }

  /** The client is gone. */
  leave(): void {
    this.#handler.closed();
  }

  /** The client reads what is buffered for it. */
  readOn(): void {
    this.waitingBytes = 0;
    this.#handler.drained();
  }

  // What the gateway does:

  send(text: string): void {
    this.events.push(JSON.parse(text) as TimedEvent);
    this.#arrive();
  }

  together(write: () => void): void {
    write();
  }

  close(code: number, reason: string): void {
    this.#end(code, reason);
  }

  terminate(): void {
    this.#end(1006, "");
  }

  #end(code: number, reason: string): void {
    if (this.closed !== undefined) return;
    this.closed = { code, reason };
    this.#handler.closed();
    this.#arrive();
  }

  #arrive(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}
