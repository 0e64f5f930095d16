import type { Principal } from "../../access/principal.ts";
import { nextTurn } from "../../base/next-turn.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { LiveLimits } from "../../relay/live-limits.ts";
import { countRefusal } from "../count-refusal.ts";
import { FrameRate } from "./frame-rate.ts";
import type { LiveSession, LiveSessions, SessionView } from "./live-sessions.ts";
import type { LiveSocket, RunTurn, SocketHandler, TurnConnection } from "./live-socket.ts";

/** How a session was opened. */
export interface OpenedBy {
  id: string;
  /** The caller now. Throws if it may not call any more. */
  caller(): Principal;
  address: string;
  /** As keys and receipts name it. */
  protocol: string;
  /** Counts the session no longer. */
  release: () => void;
}

/** Close codes (RFC 6455, section 7.4.1). Official SDKs reconnect by themselves after 1001, and only then of these. */
export const NORMAL = 1000;
const GOING_AWAY = 1001;
export const POLICY = 1008;
export const FAILED = 1011;

/** The client may be sent more once less than this is buffered for it. */
export const LOW_BYTES = 64 * 1024;
/** How many frames of one client are handled in a turn of the event loop. */
const FRAMES_A_TURN = 64;
/** The longest reason of a close frame, in bytes. */
const MAX_REASON = 123;

/** Why no turn begins any more, and how the connection is closed after the last one. */
interface Ending {
  why: GatewayError;
  code: number;
}

/** What all live connections have in common: their bounds, their ends, and how operators see them. */
export abstract class LiveConnection implements LiveSession, SocketHandler {
  protected readonly by: OpenedBy;
  protected readonly gateway: Gateway;
  protected readonly sessions: LiveSessions;
  protected socket: LiveSocket | undefined;
  protected isClosed = false;
  /** The close frame is sent: nothing more is, and nothing that arrives counts. */
  #isClosing = false;
  protected ending: Ending | undefined;
  readonly #opener: Principal;
  readonly #openedAtMs: number;
  readonly #openedAtWallMs: number;
  #begun = 0;
  #lastUsedMs: number;
  readonly #rate: FrameRate;
  /** Frames that were handled since the event loop was last seen to turn, and those that wait for it. */
  #handled = 0;
  readonly #waiting: (string | Uint8Array)[] = [];
  #turning: Promise<void> | undefined;
  /** Since when the client has not read what is buffered for it. */
  #unreadSinceMs: number | undefined;

  constructor(by: OpenedBy, opener: Principal, gateway: Gateway, sessions: LiveSessions) {
    this.by = by;
    this.gateway = gateway;
    this.sessions = sessions;
    this.#opener = opener;
    const nowMs = gateway.clock.nowMs();
    this.#openedAtMs = nowMs;
    this.#openedAtWallMs = gateway.clock.wallMs();
    this.#lastUsedMs = nowMs;
    this.#rate = new FrameRate(gateway);
  }

  /** Turns in progress. The connection is not closed before their end. */
  protected abstract get running(): number;
  /** A frame of the client, which it may send. */
  protected abstract received(frame: string | Uint8Array): void;
  /** The client is gone. Called once. */
  protected abstract left(): void;
  /** Reports an error of the session to the client. */
  protected abstract tell(why: GatewayError): void;
  /** Tells the client that the gateway stops, and how long its turns may take. */
  protected tellDraining(why: GatewayError, _timeLeftMs: number): void {
    this.tell(why);
  }

  get view(): SessionView {
    const { keyId: key, project } = this.#opener;
    const { id, protocol } = this.by;
    return { id, key, project, protocol, openedAtMs: this.#openedAtWallMs, turns: this.#begun, running: this.running };
  }

  protected get opener(): Principal {
    return this.#opener;
  }

  protected get limits(): LiveLimits {
    return this.gateway.snapshot.live;
  }

  /** When the session ends, in Unix seconds. */
  protected get expiresAtSeconds(): number {
    return Math.floor((this.#openedAtWallMs + this.limits.sessionMs) / 1000);
  }

  opened(socket: LiveSocket, _run: RunTurn): void {
    this.socket = socket;
    this.sessions.add(this);
  }

  message(frame: string | Uint8Array): void {
    if (this.#mayHandle(frame.length)) this.#handle(frame);
  }

  pinged(): void {
    this.#mayHandle(0);
  }

  #mayHandle(bytes: number): boolean {
    if (this.isClosed || this.#isClosing) return false;
    const refusal = this.#rate.take(bytes);
    if (refusal === undefined) return true;
    this.end(refusal, POLICY);
    if (this.#rate.isFlood) this.closeWith(POLICY, refusal.message);
    return false;
  }

  /** Many frames may arrive at once: other calls go on between some of them and the next (S25). */
  #handle(frame: string | Uint8Array): void {
    if (this.#handled === FRAMES_A_TURN) {
      this.#waiting.push(frame);
      return;
    }
    this.#handled++;
    if (this.#handled > FRAMES_A_TURN / 2) this.#turning ??= this.#handleRest();
    this.received(frame);
  }

  async #handleRest(): Promise<void> {
    await nextTurn();
    this.#turning = undefined;
    this.#handled = 0;
    for (const frame of this.#waiting.splice(0)) if (!this.isClosed && !this.#isClosing) this.#handle(frame);
  }

  drained(): void {
    if ((this.socket?.waitingBytes ?? 0) > LOW_BYTES) return;
    this.#unreadSinceMs = undefined;
    this.readAgain();
  }

  /** The client has read what was buffered for it, or is gone. */
  protected readAgain(): void {}

  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.sessions.remove(this);
    this.by.release();
    this.left();
    this.readAgain();
  }

  check(nowMs: number): void {
    const { idleMs, sessionMs } = this.limits;
    const { slowReaderMs } = this.gateway.timings;
    if (this.#unreadSinceMs !== undefined && nowMs - this.#unreadSinceMs >= slowReaderMs) this.socket?.terminate();
    else if (!this.#mayCall()) this.end(keyRevoked(), POLICY);
    else if (nowMs - this.#openedAtMs >= sessionMs) this.end(tooLong(sessionMs), GOING_AWAY);
    else if (this.running === 0 && nowMs - this.#lastUsedMs >= idleMs)
      this.end(idle(idleMs), NORMAL, { sendsError: false });
  }

  drain(timeLeftMs: number): void {
    this.end(draining(), GOING_AWAY, { sendsError: false, tell: (why) => this.tellDraining(why, timeLeftMs) });
  }

  endNow(): void {
    this.end(endedByOperator(), POLICY);
    this.closeWith(POLICY, endedByOperator().message);
  }

  close(): void {
    this.closeWith(GOING_AWAY, draining().message);
  }

  /** The session is in use: it does not become idle. */
  protected used(): void {
    this.#lastUsedMs = this.gateway.clock.nowMs();
  }

  /** A turn begins. */
  protected begins(): void {
    this.#begun++;
    this.sessions.turns++;
  }

  /** A turn is over. */
  protected over(): void {
    this.used();
    this.closeAfterLast();
  }

  /** Whether a request with the key would be accepted now. */
  #mayCall(): boolean {
    try {
      this.by.caller();
      return true;
    } catch {
      return false;
    }
  }

  /** The connection as the calls of its turns see it. */
  protected connection(): TurnConnection {
    const { id, address } = this.by;
    const connection: TurnConnection = {
      address,
      session: id,
      shown: this.#opener,
      trusted: true,
      held: false,
      hold: () => {
        connection.held = true;
      },
      rest: () => {},
      hangUp: () => this.socket?.terminate(),
    };
    return connection;
  }

  /**
   * Tells the client why no turn begins any more, and closes the connection when none runs. Clients may crash on an error that
   * none of their turns has caused, so that one is not sent without need.
   */
  protected end(
    why: GatewayError,
    code: number,
    { sendsError = true, tell }: { sendsError?: boolean; tell?: (why: GatewayError) => void } = {},
  ): void {
    if (this.ending !== undefined || this.isClosed) return;
    this.ending = { why, code };
    if (sendsError) this.tell(why);
    tell?.(why);
    this.closeAfterLast();
  }

  protected closeAfterLast(): void {
    if (this.ending === undefined || this.running > 0 || this.isClosed) return;
    const { why, code } = this.ending;
    this.closeWith(code, why.message);
  }

  protected closeWith(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.socket?.close(code, cutBytes(reason));
  }

  /** Counts and logs a refusal of the session itself. */
  protected noteRefusal(thrown: unknown): GatewayError {
    const error = asGatewayError(thrown);
    if (error.kind === "internal")
      this.gateway.log.error({ err: error.cause ?? error, session: this.by.id }, "internal error in a session");
    countRefusal(this.gateway, error.kind, { address: this.by.address, shown: this.#opener });
    return error;
  }

  /** Sends a frame, or gives up a client that reads too little of what it is sent. Returns whether it reads well. */
  protected sendFrame(frame: string): boolean {
    const { socket } = this;
    if (socket === undefined || this.isClosed || this.#isClosing) return true;
    const { waitingBytes } = socket;
    if (waitingBytes > this.limits.inFlightBytes) socket.terminate();
    else socket.send(frame);
    if (waitingBytes <= LOW_BYTES) return true;
    this.#unreadSinceMs ??= this.gateway.clock.nowMs();
    return false;
  }
}

function cutBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_REASON) return text;
  // A character that was cut in half is left out.
  return bytes
    .subarray(0, MAX_REASON)
    .toString()
    .replace(/\uFFFD+$/, "");
}

export const keyRevoked = (): GatewayError =>
  new GatewayError("unauthenticated", "The API key or token of this connection has been revoked or has expired.");

const draining = () =>
  new GatewayError("overloaded", "This gateway is shutting down. Open a new connection.", { code: "draining" });

const endedByOperator = () =>
  new GatewayError("forbidden", "An operator of this gateway has ended the connection.", { code: "session_ended" });

const tooLong = (sessionMs: number) =>
  new GatewayError(
    "invalid_request",
    `A connection may last ${sessionMs / 1000} seconds (live.session_seconds). Open a new connection.`,
    { code: "websocket_connection_limit_reached" },
  );

const idle = (idleMs: number) =>
  new GatewayError("invalid_request", `No response was created for ${idleMs / 1000} seconds (live.idle_seconds).`);

/** For a frame above the limit. */
export const tooLargeFrame = (maxFrameBytes: number): GatewayError =>
  new GatewayError(
    "too_large",
    `The frame has more than ${maxFrameBytes} bytes, which is the limit (live.max_frame_mb).`,
  );
