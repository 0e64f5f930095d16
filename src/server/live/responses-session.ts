import type { Principal } from "../../access/principal.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { type CreateEvent, readClientEvent, readStreamId } from "../../dialects/responses/live/client-event.ts";
import {
  type EventMarks,
  encodePrepared,
  encodeRefusal,
  type RefusedTurn,
  type ShownResponse,
} from "../../dialects/responses/live/server-event.ts";
import { clampRetryAfter } from "../../dialects/upstream-failure.ts";
import { countRequest } from "../../relay/count-request.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { LiveLimits } from "../../relay/live-limits.ts";
import { refuseManyValues } from "../../relay/request/read-body.ts";
import { countRefusal } from "../count-refusal.ts";
import type { LiveSession, LiveSessions, SessionView } from "./live-sessions.ts";
import type { LiveSocket, RunTurn, SocketHandler, TurnConnection } from "./live-socket.ts";
import { ResponsesTurn } from "./responses-turn.ts";
import { TurnMemory } from "./turn-memory.ts";

/** How a session was opened. */
interface OpenedBy {
  id: string;
  principal: Principal;
  /** The key, which is also in the headers. */
  credential: string;
  /** The URL and headers of the turns. */
  url: string;
  headers: Headers;
  address: string;
  dialect: Dialect;
  /** Counts the session no longer. */
  release: () => void;
}

/** Close codes (RFC 6455, section 7.4.1). Official SDKs reconnect by themselves after 1001, and only then of these. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const POLICY = 1008;

/** Turns that may run at one time, each in its own stream. */
const MAX_RUNNING = 64;
/** The client may be sent more once less than this is buffered for it. */
const LOW_BYTES = 64 * 1024;

/**
 * A WebSocket on which a client creates responses, one turn after the other in each of its streams. A turn is a request to
 * `POST /v1/responses` through the same handler as any other; what differs is where its events are written (decision 0115).
 */
export class ResponsesSession implements LiveSession, SocketHandler {
  readonly #by: OpenedBy;
  readonly #gateway: Gateway;
  readonly #sessions: LiveSessions;
  readonly #memory: TurnMemory;
  readonly #openedAtMs: number;
  readonly #openedAtWallMs: number;
  /** By stream. A client that names none has one. */
  readonly #turns = new Map<string | undefined, ResponsesTurn>();
  /** Cancelled turns that are not billed yet. */
  readonly #leaving = new Set<ResponsesTurn>();
  #begun = 0;
  #runningBytes = 0;
  #lastTurnMs: number;
  /** How much the client may send now. */
  #credit: { bytes: number; atMs: number };
  #socket: LiveSocket | undefined;
  #run: RunTurn | undefined;
  #hasSent = false;
  #isClosed = false;
  /** Why no turn begins any more, and how the connection is closed after the last one. */
  #ending: { why: GatewayError; code: number } | undefined;
  #readers: (() => void)[] = [];

  constructor(by: OpenedBy, gateway: Gateway, sessions: LiveSessions) {
    this.#by = by;
    this.#gateway = gateway;
    this.#sessions = sessions;
    const nowMs = gateway.clock.nowMs();
    this.#openedAtMs = nowMs;
    this.#openedAtWallMs = gateway.clock.wallMs();
    this.#lastTurnMs = nowMs;
    this.#credit = { bytes: this.#burst, atMs: nowMs };
    this.#memory = new TurnMemory(gateway.memory.open(by.principal), () => gateway.snapshot.maxBodyBytes);
  }

  get view(): SessionView {
    const { id, principal, dialect } = this.#by;
    return {
      id,
      key: principal.keyId,
      project: principal.project,
      protocol: dialect.name,
      openedAtMs: this.#openedAtWallMs,
      turns: this.#begun,
      running: this.#turns.size,
    };
  }

  get #limits(): LiveLimits {
    return this.#gateway.snapshot.live;
  }

  get #burst(): number {
    return Math.max(this.#limits.bytesPerSecond, this.#limits.maxFrameBytes);
  }

  opened(socket: LiveSocket, run: RunTurn): void {
    this.#socket = socket;
    this.#run = run;
    this.#sessions.add(this);
  }

  message(frame: string | Uint8Array): void {
    if (this.#isClosed) return;
    if (!this.#maySend(frame.length)) {
      this.#end(tooFast(this.#limits), POLICY);
      return;
    }
    let streamId: string | undefined;
    try {
      const { event, text } = parseFrame(frame, this.#limits);
      streamId = readStreamId(event);
      const read = readClientEvent(event, text);
      if (read.type === "cancel") this.#cancel(read.responseId);
      else this.#begin(read, streamId, text.length);
    } catch (thrown) {
      this.#refuseFor(asGatewayError(thrown), streamId);
    }
  }

  drained(): void {
    if ((this.#socket?.waitingBytes ?? 0) > LOW_BYTES) return;
    for (const resolve of this.#readers.splice(0)) resolve();
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sessions.remove(this);
    this.#by.release();
    this.#memory.release();
    for (const turn of this.#turns.values()) turn.leave();
    for (const resolve of this.#readers.splice(0)) resolve();
  }

  check(nowMs: number): void {
    const { idleMs, sessionMs } = this.#limits;
    if (!this.#mayCall()) this.#end(keyRevoked(), POLICY);
    else if (nowMs - this.#openedAtMs >= sessionMs) this.#end(tooLong(sessionMs), GOING_AWAY);
    else if (this.#turns.size === 0 && nowMs - this.#lastTurnMs >= idleMs)
      this.#end(idle(idleMs), NORMAL, { sendsError: false });
  }

  drain(): void {
    this.#end(draining(), GOING_AWAY);
  }

  close(): void {
    this.#socket?.close(GOING_AWAY, draining().message);
  }

  /** Refuses a client that sends faster than it may: what it has sent is in memory before it can be refused. */
  #maySend(bytes: number): boolean {
    const nowMs = this.#gateway.clock.nowMs();
    const earned = ((nowMs - this.#credit.atMs) / 1000) * this.#limits.bytesPerSecond;
    const left = Math.min(this.#burst, this.#credit.bytes + earned) - bytes;
    this.#credit = { bytes: left, atMs: nowMs };
    return left >= 0;
  }

  #begin(event: CreateEvent, streamId: string | undefined, bytes: number): void {
    if (this.#ending !== undefined) throw this.#ending.why;
    const running = this.#turns.get(streamId);
    if (running !== undefined) throw inProgress(streamId);
    if (this.#turns.size + this.#leaving.size >= MAX_RUNNING || this.#runningBytes + bytes > this.#limits.inFlightBytes)
      throw tooMuchInFlight(this.#limits);
    const { random } = this.#gateway;
    const id = this.#by.dialect.stored?.makeId(random.id()) ?? random.id();
    const turn = new ResponsesTurn({ event, id, streamId, bytes }, this);
    this.#turns.set(streamId, turn);
    this.#runningBytes += bytes;
    this.#begun++;
    this.#sessions.turns++;
    const work = event.generates ? this.#ask(turn) : this.#prepare(turn);
    void work
      .catch((thrown: unknown) => this.#refuseFor(asGatewayError(thrown), streamId))
      .finally(() => this.#over(turn));
  }

  async #ask(turn: ResponsesTurn): Promise<void> {
    const { event, signal } = turn;
    const run = this.#run;
    if (run === undefined) return;
    const body = event.request(this.#memory.before(event.previous));
    const headers = new Headers(this.#by.headers);
    headers.set("content-type", "application/json");
    headers.set("content-length", String(Buffer.byteLength(body)));
    await turn.run(run, new Request(this.#by.url, { method: "POST", headers, body, signal }), this.#connection());
  }

  /** Keeps the input for later turns. No model is called, and nothing is billed. */
  async #prepare({ event, id, streamId }: ResponsesTurn): Promise<void> {
    const { clock, keys } = this.#gateway;
    await countRequest(await keys.identify(this.#by.credential, this.#connection()), this.#gateway);
    const { own: input, previous } = event;
    this.#remember(id, { input, output: "[]", previous });
    const marks = this.marks(streamId);
    for (const frame of encodePrepared(event.body, id, Math.floor(clock.wallMs() / 1000), marks)) this.send(frame);
  }

  /** Whether a request with the key would be accepted now. */
  #mayCall(): boolean {
    return this.#gateway.keys.mayCall(this.#by.credential, this.#by.principal, this.#connection());
  }

  #connection(): TurnConnection {
    const { id, address, principal } = this.#by;
    const connection: TurnConnection = {
      address,
      session: id,
      shown: principal,
      trusted: true,
      held: false,
      hold: () => {
        connection.held = true;
      },
      rest: () => {},
      hangUp: () => this.#socket?.terminate(),
    };
    return connection;
  }

  #cancel(responseId: string): void {
    for (const [streamId, turn] of this.#turns) {
      if (turn.responseId !== responseId) continue;
      // Its stream is free at once. Until it is billed, it counts as running.
      this.#turns.delete(streamId);
      this.#leaving.add(turn);
      turn.cancel();
      return;
    }
    const message = `No response with id "${responseId.slice(0, 80)}" is in progress on this connection.`;
    throw new GatewayError("not_found", message, { path: "response_id", code: "response_not_found" });
  }

  #over(turn: ResponsesTurn): void {
    if (!this.#leaving.delete(turn)) this.#turns.delete(turn.streamId);
    this.#runningBytes -= turn.bytes;
    this.#lastTurnMs = this.#gateway.clock.nowMs();
    this.#closeAfterLast();
  }

  /**
   * Tells the client why no turn begins any more, and closes the connection when none runs. Clients may crash on an error that
   * nothing of theirs has caused, so that one is not sent without need.
   */
  #end(why: GatewayError, code: number, { sendsError = true } = {}): void {
    if (this.#ending !== undefined || this.#isClosed) return;
    this.#ending = { why, code };
    if (sendsError) this.#tell(why, undefined);
    this.#closeAfterLast();
  }

  #closeAfterLast(): void {
    if (this.#ending === undefined || this.#turns.size > 0 || this.#isClosed) return;
    const { why, code } = this.#ending;
    this.#socket?.close(code, why.message.slice(0, MAX_REASON));
  }

  /** A refusal of the session itself. */
  #refuseFor(error: GatewayError, streamId: string | undefined): void {
    if (error.kind === "internal")
      this.#gateway.log.error({ err: error.cause ?? error, session: this.#by.id }, "internal error in a session");
    countRefusal(this.#gateway, error.kind, { address: this.#by.address, shown: this.#by.principal });
    this.#tell(error, streamId);
  }

  #tell(error: GatewayError, streamId: string | undefined): void {
    const { id, dialect } = this.#by;
    const { status, body } = dialect.errors.encode(error, id);
    const headers: Record<string, string> = {};
    if (error.kind === "rate_limited" || error.retryAfterSeconds !== undefined)
      headers["retry-after"] = String(clampRetryAfter(error.retryAfterSeconds));
    this.send(encodeRefusal({ status, body, headers }, this.marks(streamId)));
  }

  // What turns use:

  marks(streamId: string | undefined): EventMarks {
    return { streamId, sessionId: this.#hasSent ? undefined : this.#by.id };
  }

  send(frame: string): void {
    const socket = this.#socket;
    if (socket === undefined || this.#isClosed) return;
    this.#hasSent = true;
    if (socket.waitingBytes > this.#limits.inFlightBytes) socket.terminate();
    else socket.send(frame);
  }

  together(write: () => void): void {
    if (this.#socket === undefined || this.#isClosed) write();
    else this.#socket.together(write);
  }

  read(): Promise<void> {
    if (this.#isClosed || (this.#socket?.waitingBytes ?? 0) <= LOW_BYTES) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#readers.push(resolve);
    return promise;
  }

  refuse(refused: RefusedTurn, streamId: string | undefined): void {
    this.send(encodeRefusal(refused, this.marks(streamId)));
    if (refused.status === UNAUTHENTICATED) this.#ending ??= { why: keyRevoked(), code: POLICY };
  }

  completed({ event: { own, previous } }: ResponsesTurn, { id, isStored, output }: ShownResponse): void {
    if (!isStored) this.#remember(id, { input: own, output, previous });
  }

  #remember(...turn: Parameters<TurnMemory["remember"]>): void {
    if (!this.#isClosed) this.#memory.remember(...turn);
  }
}

const UNAUTHENTICATED = 401;
/** The longest reason of a close frame, in bytes. */
const MAX_REASON = 123;

function parseFrame(frame: string | Uint8Array, { maxFrameBytes }: LiveLimits): { event: JsonObject; text: string } {
  if (typeof frame !== "string")
    throw new GatewayError("invalid_request", "The frame is binary. Send events as JSON in text frames.");
  if (Buffer.byteLength(frame) > maxFrameBytes) {
    const message = `The frame has more than ${maxFrameBytes} bytes, which is the limit (live.max_frame_mb).`;
    throw new GatewayError("too_large", message);
  }
  refuseManyValues(frame);
  let event: unknown;
  try {
    event = JSON.parse(frame);
  } catch (cause) {
    throw new GatewayError("invalid_request", "The frame is not valid JSON.", { cause });
  }
  if (!isObject(event)) throw new GatewayError("invalid_request", "The frame must be a JSON object with a type.");
  return { event, text: frame };
}

const keyRevoked = () =>
  new GatewayError("unauthenticated", "The API key or token of this connection has been revoked or has expired.");

const draining = () =>
  new GatewayError("overloaded", "This gateway is shutting down. Open a new connection.", { code: "draining" });

const tooLong = (sessionMs: number) =>
  new GatewayError(
    "invalid_request",
    `A connection may last ${sessionMs / 1000} seconds (live.session_seconds). Open a new connection.`,
    { code: "websocket_connection_limit_reached" },
  );

const idle = (idleMs: number) =>
  new GatewayError("invalid_request", `No response was created for ${idleMs / 1000} seconds (live.idle_seconds).`);

const tooFast = ({ bytesPerSecond }: LiveLimits) =>
  new GatewayError(
    "rate_limited",
    `A connection may send ${bytesPerSecond} bytes a second (live.bytes_per_second). Open a new connection and send less.`,
  );

const tooMuchInFlight = ({ inFlightBytes }: LiveLimits) =>
  new GatewayError(
    "rate_limited",
    `The turns in progress on this connection are at most ${MAX_RUNNING}, with ${Math.round(inFlightBytes / 1024 ** 2)} MB of requests (live.in_flight_mb). Wait until one has ended.`,
    { retryAfterSeconds: 1 },
  );

const inProgress = (streamId: string | undefined) =>
  new GatewayError(
    "invalid_request",
    streamId === undefined
      ? "A response is in progress on this connection. Wait for its end, cancel it, or use another stream_id."
      : "A response is in progress in this stream. Wait for its end, cancel it, or use another stream_id.",
    { path: "stream_id", code: "response_in_progress" },
  );
