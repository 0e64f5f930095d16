import type { ClientConnection } from "../../relay/call.ts";

/** The connection of a turn, as the request handler takes it. */
export interface TurnConnection extends ClientConnection {
  held: boolean;
}

/** Runs a turn as if its request had come over HTTP. */
export type RunTurn = (request: Request, connection: TurnConnection) => Promise<Response>;

/** A WebSocket as its session uses it. */
export interface LiveSocket {
  /** Sends a frame of text. What the client does not read is buffered. */
  send(text: string): void;
  /** Sends the frames of `write` together. */
  together(write: () => void): void;
  /** How much is buffered. */
  readonly waitingBytes: number;
  close(code: number, reason: string): void;
  /** Closes it without a handshake, for clients that read nothing. */
  terminate(): void;
}

/** What the listener reports about one WebSocket. */
export interface SocketHandler {
  opened(socket: LiveSocket, run: RunTurn): void;
  message(frame: string | Uint8Array): void;
  /** The client has sent a ping or a pong. The runtime answers pings. */
  pinged(): void;
  /** The client has read what was buffered. */
  drained(): void;
  closed(): void;
}
