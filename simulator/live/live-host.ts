import type { Credentials } from "../credentials.ts";
import type { Json } from "../json.ts";

/** A WebSocket as a session uses it. */
export interface LiveWire {
  send(frame: string | Uint8Array): void;
  close(code: number, reason: string): void;
  /** Drops the connection without a close frame. */
  drop(): void;
}

/** What the server reports to a session about its WebSocket. */
export interface LiveSession {
  opened(wire: LiveWire): void;
  message(frame: string | Uint8Array): void;
  closed(): void;
}

/** A request to open a WebSocket. */
export interface Handshake {
  url: URL;
  headers: Headers;
}

export interface AcceptedSession {
  session: LiveSession;
  /** The subprotocol that the host chooses. */
  protocol?: string;
}

/** What the simulated hosts of live connections share. */
export interface LiveContext {
  credentials: Credentials;
  acceptsToken: (token: string) => boolean;
  nowMs: () => number;
  /** Waits, but no longer than until the signal fires. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The pause before each part of an answer. */
  partDelayMs: number;
  countModel: (name: string) => void;
  /** Counts sessions, so that each has ids of its own. */
  nextSession: () => number;
  /** Called with every message of a client. */
  onMessage?: ((message: Json) => void) | undefined;
}

/** The live side of one simulated vendor. Returns undefined for other paths, and throws a HostError to refuse the handshake. */
export type LiveHost = (handshake: Handshake, context: LiveContext) => AcceptedSession | undefined;
