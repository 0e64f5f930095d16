import type { Principal } from "../../access/principal.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { type CreateEvent, readClientEvent, readStreamId } from "../../dialects/responses/live/client-event.ts";
import {
  type EventMarks,
  encodePrepared,
  encodeRefusal,
  encodeSteerFailed,
  type RefusedTurn,
  type ShownResponse,
} from "../../dialects/responses/live/server-event.ts";
import { clampRetryAfter } from "../../dialects/upstream-failure.ts";
import { countRequest } from "../../relay/count-request.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { LiveLimits } from "../../relay/live-limits.ts";
import { refuseManyValues } from "../../relay/request/read-body.ts";
import { keyRevoked, LiveConnection, LOW_BYTES, type OpenedBy, POLICY, tooLargeFrame } from "./live-connection.ts";
import type { LiveSessions } from "./live-sessions.ts";
import type { LiveSocket, RunTurn } from "./live-socket.ts";
import { ResponsesTurn } from "./responses-turn.ts";
import { TurnMemory } from "./turn-memory.ts";

/** How a session was opened. */
interface ResponsesOpenedBy extends OpenedBy {
  principal: Principal;
  /** The key, which is also in the headers. */
  credential: string;
  /** The URL and headers of the turns. */
  url: string;
  headers: Headers;
  dialect: Dialect;
}

/** Turns that may run at one time, each in its own stream. */
const MAX_RUNNING = 64;

/**
 * A WebSocket on which a client creates responses, one turn after the other in each of its streams. A turn is a request to
 * `POST /v1/responses` through the same handler as any other; what differs is where its events are written (decision 0115).
 */
export class ResponsesSession extends LiveConnection {
  readonly #by: ResponsesOpenedBy;
  readonly #memory: TurnMemory;
  /** By stream. A client that names none has one. */
  readonly #turns = new Map<string | undefined, ResponsesTurn>();
  /** Cancelled turns that are not billed yet. */
  readonly #leaving = new Set<ResponsesTurn>();
  #runningBytes = 0;
  #run: RunTurn | undefined;
  #hasSent = false;
  #readers: (() => void)[] = [];

  constructor(by: ResponsesOpenedBy, gateway: Gateway, sessions: LiveSessions) {
    super(by, by.principal, gateway, sessions);
    this.#by = by;
    this.#memory = new TurnMemory(gateway.memory.open(by.principal), () => gateway.snapshot.maxBodyBytes);
  }

  protected get running(): number {
    return this.#turns.size;
  }

  override opened(socket: LiveSocket, run: RunTurn): void {
    this.#run = run;
    super.opened(socket, run);
  }

  protected received(frame: string | Uint8Array): void {
    let streamId: string | undefined;
    try {
      const { event, text } = parseFrame(frame, this.gateway.snapshot);
      streamId = readStreamId(event);
      const read = readClientEvent(event, text);
      if (read.type === "cancel") this.#cancel(read.responseId);
      else if (read.type === "steer") this.send(encodeSteerFailed(read, this.marks(this.#streamOf(read.responseId))));
      else this.#begin(read, streamId, text.length);
    } catch (thrown) {
      this.#refuseFor(thrown, streamId);
    }
  }

  protected override readAgain(): void {
    for (const resolve of this.#readers.splice(0)) resolve();
  }

  protected left(): void {
    this.#memory.release();
    for (const turn of this.#turns.values()) turn.leave();
  }

  #begin(event: CreateEvent, streamId: string | undefined, bytes: number): void {
    if (this.ending !== undefined) throw this.ending.why;
    const running = this.#turns.get(streamId);
    if (running !== undefined) throw inProgress(streamId);
    if (this.#turns.size + this.#leaving.size >= MAX_RUNNING || this.#runningBytes + bytes > this.limits.inFlightBytes)
      throw tooMuchInFlight(this.limits);
    const { random } = this.gateway;
    const id = this.#by.dialect.stored?.makeId(random.id()) ?? random.id();
    const turn = new ResponsesTurn({ event, id, streamId, bytes }, this);
    this.#turns.set(streamId, turn);
    this.#runningBytes += bytes;
    this.begins();
    const work = event.generates ? this.#ask(turn) : this.#prepare(turn);
    void work.catch((thrown: unknown) => this.#refuseFor(thrown, streamId)).finally(() => this.#over(turn));
  }

  async #ask(turn: ResponsesTurn): Promise<void> {
    const { event, signal } = turn;
    const run = this.#run;
    if (run === undefined) return;
    const body = event.request(this.#memory.before(event.previous));
    const headers = new Headers(this.#by.headers);
    headers.set("content-type", "application/json");
    headers.set("content-length", String(Buffer.byteLength(body)));
    await turn.run(run, new Request(this.#by.url, { method: "POST", headers, body, signal }), this.connection());
  }

  /** Keeps the input for later turns. No model is called, and nothing is billed. */
  async #prepare({ event, id, streamId }: ResponsesTurn): Promise<void> {
    const { clock, keys } = this.gateway;
    await countRequest(await keys.identify(this.#by.credential, this.connection()), this.gateway);
    const { own: input, previous } = event;
    this.#remember(id, { input, output: "[]", previous });
    const marks = this.marks(streamId);
    for (const frame of encodePrepared(event.body, id, Math.floor(clock.wallMs() / 1000), marks)) this.send(frame);
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

  #streamOf(responseId: string | undefined): string | undefined {
    for (const [streamId, turn] of this.#turns) if (turn.responseId === responseId) return streamId;
    return undefined;
  }

  #over(turn: ResponsesTurn): void {
    if (!this.#leaving.delete(turn)) this.#turns.delete(turn.streamId);
    this.#runningBytes -= turn.bytes;
    this.over();
  }

  #refuseFor(thrown: unknown, streamId: string | undefined): void {
    this.#tell(this.noteRefusal(thrown), streamId);
  }

  protected tell(why: GatewayError): void {
    this.#tell(why, undefined);
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
    if (this.socket === undefined || this.isClosed) return;
    this.#hasSent = true;
    this.sendFrame(frame);
  }

  together(write: () => void): void {
    if (this.socket === undefined || this.isClosed) write();
    else this.socket.together(write);
  }

  read(): Promise<void> {
    if (this.isClosed || (this.socket?.waitingBytes ?? 0) <= LOW_BYTES) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#readers.push(resolve);
    return promise;
  }

  refuse(refused: RefusedTurn, streamId: string | undefined): void {
    this.send(encodeRefusal(refused, this.marks(streamId)));
    if (refused.status === UNAUTHENTICATED) this.ending ??= { why: keyRevoked(), code: POLICY };
  }

  completed({ event: { own, previous } }: ResponsesTurn, { id, isStored, output }: ShownResponse): void {
    if (!isStored) this.#remember(id, { input: own, output, previous });
  }

  #remember(...turn: Parameters<TurnMemory["remember"]>): void {
    if (!this.isClosed) this.#memory.remember(...turn);
  }
}

const UNAUTHENTICATED = 401;

function parseFrame(frame: string | Uint8Array, bound: Gateway["snapshot"]): { event: JsonObject; text: string } {
  if (typeof frame !== "string")
    throw new GatewayError("invalid_request", "The frame is binary. Send events as JSON in text frames.");
  const { maxFrameBytes } = bound.live;
  if (Buffer.byteLength(frame) > maxFrameBytes) throw tooLargeFrame(maxFrameBytes);
  refuseManyValues(frame, bound);
  let event: unknown;
  try {
    event = JSON.parse(frame);
  } catch (cause) {
    throw new GatewayError("invalid_request", "The frame is not valid JSON.", { cause });
  }
  if (!isObject(event)) throw new GatewayError("invalid_request", "The frame must be a JSON object with a type.");
  return { event, text: frame };
}

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
