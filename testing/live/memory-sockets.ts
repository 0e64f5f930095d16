import type { JsonObject } from "../../src/base/json.ts";
import type { Connect, HostSocket, SocketReceiver, SocketRequest } from "../../src/wire/connect.ts";

/** A host's side of a WebSocket, as a test plays it. */
export class MemoryHost implements HostSocket {
  readonly request: SocketRequest;
  /** The frames that it has received. */
  readonly frames: (string | Uint8Array)[] = [];
  /** How the gateway closed it. */
  closed: "closed" | "terminated" | undefined;
  /** Set by a test, for a host that reads nothing. */
  waitingBytes = 0;
  paused = false;
  pings = 0;
  readonly #receiver: SocketReceiver;
  readonly #script: HostScript;
  #hasEnded = false;

  constructor(request: SocketRequest, receiver: SocketReceiver, script: HostScript) {
    this.request = request;
    this.#receiver = receiver;
    this.#script = script;
  }

  /** Its frames as events. */
  get events(): JsonObject[] {
    return this.frames.map((frame) => JSON.parse(typeof frame === "string" ? frame : new TextDecoder().decode(frame)));
  }

  /** Those of this type. */
  ofType(type: string): JsonObject[] {
    return this.events.filter((event) => event["type"] === type);
  }

  accept(): void {
    this.#receiver.opened();
  }

  /** Answers the handshake with a status, or not at all. */
  refuse(status?: number): void {
    const cause = new Error("Failed to connect");
    this.#end(1006, "", { refused: status === undefined ? { cause } : { status, cause } });
  }

  say(...events: (object | string)[]): void {
    for (const event of events)
      if (!this.#hasEnded) this.#receiver.received(typeof event === "string" ? event : JSON.stringify(event));
  }

  sayBytes(bytes: Uint8Array): void {
    if (!this.#hasEnded) this.#receiver.received(bytes);
  }

  /** The host ends the connection. */
  hangUp(code = 1006, reason = ""): void {
    this.#end(code, reason);
  }

  #end(code: number, reason: string, more: object = {}): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#receiver.ended({ code, reason, ...more });
  }

  get isOpen(): boolean {
    return !this.#hasEnded;
  }

  // What the gateway does:

  send(frame: string | Uint8Array): void {
    this.frames.push(frame);
    const text = typeof frame === "string" ? frame : new TextDecoder().decode(frame);
    queueMicrotask(() => this.#script.heard?.(this, JSON.parse(text) as JsonObject));
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  ping(): void {
    this.pings++;
  }

  close(): void {
    this.closed ??= "closed";
    queueMicrotask(() => this.#end(1000, ""));
  }

  terminate(): void {
    this.closed ??= "terminated";
    queueMicrotask(() => this.#end(1006, ""));
  }
}

/** How a host behaves by itself. */
export interface HostScript {
  /** The gateway has asked for a connection. Absent: it is accepted, and nothing more. */
  asked?(host: MemoryHost): void;
  heard?(host: MemoryHost, event: JsonObject): void;
}

/** An in-memory host of WebSockets for every URL. */
export class MemorySockets {
  readonly hosts: MemoryHost[] = [];
  #scripts: HostScript[] = [];

  /** One script for each connection from now on; the last one for all that follow. */
  play(...scripts: HostScript[]): void {
    this.hosts.length = 0;
    this.#scripts = scripts;
  }

  /** The last one. */
  get host(): MemoryHost {
    const host = this.hosts.at(-1);
    if (host === undefined) throw new Error("the gateway has opened no connection");
    return host;
  }

  /** Connections that are open. */
  get open(): number {
    return this.hosts.filter(({ isOpen }) => isOpen).length;
  }

  readonly connect: Connect = (request, receiver) => {
    const script = this.#scripts[Math.min(this.hosts.length, this.#scripts.length - 1)];
    if (script === undefined) throw new Error("no script was provided for this connection");
    const host = new MemoryHost(request, receiver, script);
    this.hosts.push(host);
    // In a later turn, as with a real host.
    queueMicrotask(() => (script.asked === undefined ? host.accept() : script.asked(host)));
    return host;
  };
}
