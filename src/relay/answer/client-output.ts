import type { BufferPool, ByteBuffer } from "../../base/byte-buffer.ts";
import { GatewayError } from "../../canon/error.ts";
import { NOT_WATCHED, type Watched } from "../attempt/watchdog.ts";
import type { AnswerKeeper } from "../cached/answer-keeper.ts";
import type { Call, CallListener, ClientPresence, IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { CallTimer } from "../settle/call-timer.ts";

/** How much may be unacknowledged by a client before the gateway waits for it. Each wait costs a turn of the event loop. */
const MAX_UNCONFIRMED_BYTES = 128 * 1024;
/** The most that is buffered for one client. */
export const MAX_HELD_BYTES = 32 * 1024 * 1024;

/** What an error in a stream needs to know of its call. */
type FailedCall = Pick<Call, "body" | "modelInAnswer"> & {
  incoming: Pick<IncomingCall, "dialect" | "requestId" | "options">;
};

/** What Bun hands to a stream of type "direct": writes go straight to the socket, and what it does not take is copied. */
export interface DirectController {
  write(text: string | Uint8Array): number | Promise<number>;
  /** With `wait`, resolves when the client's socket has taken everything. */
  flush(wait?: boolean): number | Promise<number>;
  close(): void;
}

/** The output of a response whose client has disconnected. */
const NO_CLIENT: DirectController = { write: () => 0, flush: () => 0, close: () => {} };

/** Whether the commit deadline passes before there is content to commit. */
export function commitsEarly(
  { startedAtMs }: Pick<Call, "startedAtMs">,
  gateway: Gateway,
  opening: Promise<unknown>,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const decide = (early: boolean): void => {
    gateway.watchdog.unwatch(watched);
    resolve(early);
  };
  const watched: Watched = {
    watchIndex: NOT_WATCHED,
    check: (now) => {
      if (now - startedAtMs >= gateway.timings.commitDeadlineMs) decide(true);
    },
  };
  gateway.watchdog.watch(watched);
  const settled = () => decide(false);
  opening.then(settled, settled);
  return promise;
}

/** Writes a body to an output. The result resolves at its end. */
type Pull = (controller: DirectController) => unknown;

/** How the body of a turn is written. */
const turnPull = Symbol("turn pull");

interface TurnBody extends ReadableStream {
  [turnPull]?: Pull;
}

/** A response body that is written straight to the client's socket. */
export function directBody(client: ClientPresence, pull: Pull): ReadableStream {
  const source = { type: "direct", pull, cancel: () => client.markDisconnected() };
  const body: TurnBody = new ReadableStream(source as unknown as ConstructorParameters<typeof ReadableStream>[0]);
  if (client.isTurn) body[turnPull] = pull;
  return body;
}

/**
 * Writes the body of a turn of a live connection, at the pace of the output. The runtime would buffer all of a body that is
 * read in any other way. False if the body is read from a stream.
 */
export async function writeTurn({ body }: Response, output: DirectController): Promise<boolean> {
  const pull = (body as TurnBody | null)?.[turnPull];
  if (pull === undefined) return false;
  await pull(output);
  return true;
}

/**
 * The same for a response that is completed even without its client. If the client disconnects before the runtime pulls the body,
 * nothing else would start it.
 */
export function streamedBody(
  client: ClientPresence,
  produce: (controller: DirectController) => Promise<void>,
): ReadableStream {
  let begun = false;
  const begin = (controller: DirectController): Promise<void> | undefined => {
    if (begun) {
      controller.close();
      return undefined;
    }
    begun = true;
    client.removeListener(listener);
    return produce(controller);
  };
  const listener: CallListener = { clientDisconnected: () => void begin(NO_CLIENT) };
  client.addListener(listener);
  return directBody(client, begin);
}

/**
 * The output of one stream to its client, and the memory for it. Until the commit, the output of each attempt is held separately.
 * After it, output is written as it arrives. The last part is kept until the call's row is committed.
 */
export class ClientOutput implements Watched {
  watchIndex = NOT_WATCHED;
  readonly #client: ClientPresence;
  readonly #gateway: Pick<Gateway, "clock" | "watchdog" | "timings">;
  readonly #keepAlive: string | undefined;
  readonly #timer: CallTimer | undefined;
  readonly #buffers: BufferPool;
  #controller = NO_CLIENT;
  /** When something was last written, as the watchdog saw it. */
  #wroteAtMs: number | undefined;
  /** Written since the client was last known to have taken everything. */
  #unconfirmedBytes = 0;
  #blockedSinceMs: number | undefined;
  #last: ByteBuffer | undefined;
  /** Content was written. */
  begun = false;
  /** Records what the client receives. */
  keeper: AnswerKeeper | undefined;

  constructor(
    client: ClientPresence,
    gateway: Pick<Gateway, "clock" | "watchdog" | "timings" | "buffers">,
    keepAlive: string | undefined,
    timer?: CallTimer,
  ) {
    this.#client = client;
    this.#gateway = gateway;
    this.#keepAlive = keepAlive;
    this.#timer = timer;
    this.#buffers = gateway.buffers;
  }

  /** A buffer for what an attempt renders before the commit: to be dropped, sent or kept. */
  hold(): ByteBuffer {
    return this.#buffers.take();
  }

  drop(held: ByteBuffer): void {
    this.#buffers.giveBack(held);
  }

  /** Where one chunk is rendered, to be sent or kept in the same turn. Empty. */
  get buffer(): ByteBuffer {
    const { shared } = this.#buffers;
    shared.clear();
    return shared;
  }

  /**
   * Commits the response. The headers are sent with the first byte, so if there is no content yet, a keep-alive is due at once.
   * From now on keep-alives are sent, and a client that reads nothing is disconnected.
   */
  commit(controller: DirectController, hasContent: boolean): void {
    this.#controller = controller;
    this.#client.answerBegun = true;
    if (!hasContent) this.#wroteAtMs = Number.NEGATIVE_INFINITY;
    this.#gateway.watchdog.watch(this);
  }

  check(nowMs: number): void {
    const client = this.#client;
    const keepAlive = this.#keepAlive;
    const { keepAliveMs, slowReaderMs } = this.#gateway.timings;
    this.#wroteAtMs ??= nowMs;
    if (this.#blockedSinceMs !== undefined) {
      if (nowMs - this.#blockedSinceMs > slowReaderMs) client.hangUp();
    } else if (keepAlive !== undefined && !client.disconnected && nowMs - this.#wroteAtMs >= keepAliveMs) {
      this.#wroteAtMs = nowMs;
      this.write(keepAlive);
    }
  }

  /** Sends rendered output. Returns false if the caller must wait for the client before it sends more. */
  send(rendered: ByteBuffer): boolean {
    if (rendered.length === 0 || this.#client.disconnected) return true;
    this.begun = true;
    this.keeper?.add(rendered.view());
    this.#controller.write(rendered.view());
    this.#wroteAtMs = undefined;
    this.#unconfirmedBytes += rendered.length;
    if (this.#unconfirmedBytes >= MAX_UNCONFIRMED_BYTES) return false;
    this.#controller.flush();
    return true;
  }

  /** The same for what was held. */
  sendHeld(held: ByteBuffer): boolean {
    const more = this.send(held);
    this.drop(held);
    return more;
  }

  /** Back-pressure: resolves when the client has received everything, or counts as disconnected. */
  async taken(): Promise<void> {
    this.#blockedSinceMs = this.#gateway.clock.nowMs();
    const phase = this.#timer?.phase;
    this.#timer?.to("client");
    await Promise.race([this.#controller.flush(true), this.#client.disconnection]);
    if (phase !== undefined) this.#timer?.to(phase);
    this.#blockedSinceMs = undefined;
    this.#unconfirmedBytes = 0;
  }

  /** Keeps what was rendered for `sendLast`. */
  keep(rendered: ByteBuffer): void {
    if (rendered.length === 0 || this.#client.disconnected) return;
    this.#last ??= this.#buffers.take();
    this.#last.putBytes(rendered.view());
    if (this.#last.length > MAX_HELD_BYTES)
      throw new GatewayError("upstream_failed", "The provider kept sending data after the end of its response.");
  }

  /** The same for a response that was complete before any of it was sent. */
  keepHeld(held: ByteBuffer): void {
    this.#last = held;
  }

  /** Sends kept output early because the response has failed: the client gets all of it, then the error. */
  sendKept(): void {
    const last = this.#last;
    this.#last = undefined;
    if (last) this.sendHeld(last);
  }

  /** Sends a text. Resolves when the client may be sent more. */
  async sendText(text: string): Promise<void> {
    if (text === "" || this.#client.disconnected) return;
    this.begun = true;
    this.keeper?.add(text);
    this.#controller.write(text);
    this.#wroteAtMs = undefined;
    this.#unconfirmedBytes += text.length;
    if (this.#unconfirmedBytes >= MAX_UNCONFIRMED_BYTES) await this.taken();
    else this.#controller.flush();
  }

  /** Ends a stream with an error in the client's protocol. `position` is the encoder's position in the stream. */
  async fail(error: GatewayError, { incoming, body, modelInAnswer }: FailedCall, position?: unknown): Promise<void> {
    this.keeper?.drop();
    const { dialect, requestId, options } = incoming;
    const atSeconds = Math.floor(this.#gateway.clock.wallMs() / 1000);
    const call = { model: modelInAnswer, request: body, atSeconds };
    const writes = dialect.errors.encodeInStream(error, requestId, { options, begun: this.begun, position, call });
    for (const { text, pauseMs } of writes) {
      if (pauseMs > 0) await this.#gateway.clock.sleep(pauseMs);
      this.write(text);
    }
  }

  /** Writes text that is not part of the response: a keep-alive or an error. */
  write(text: string): void {
    this.#controller.write(text);
    this.#controller.flush();
  }

  /** What was kept is not sent. */
  dropLast(): void {
    if (this.#last) this.drop(this.#last);
    this.#last = undefined;
  }

  /** Sends what was kept, and ends. */
  close(): void {
    this.#gateway.watchdog.unwatch(this);
    const isReceived = !this.#client.disconnected;
    if (this.#last && isReceived) {
      this.keeper?.add(this.#last.view());
      this.#controller.write(this.#last.view());
    }
    this.#controller.close();
    this.dropLast();
    if (isReceived) this.keeper?.ended();
    else this.keeper?.drop();
  }

  /** Ends an incomplete response. If the protocol cannot report this, the caller must break the connection. */
  breakOff(): void {
    this.#gateway.watchdog.unwatch(this);
    this.dropLast();
    this.keeper?.drop();
  }

  /**
   * Sends a complete response. It is sent synchronously, because the runtime then sends headers and content together instead of
   * each header separately.
   */
  sendWhole(controller: DirectController): void {
    this.#controller = controller;
    this.close();
  }
}
