import type { BufferPool, ByteBuffer } from "../../base/byte-buffer.ts";
import { GatewayError } from "../../canon/error.ts";
import { NOT_WATCHED, type Watched } from "../attempt/watchdog.ts";
import type { Call, ClientPresence, DisconnectListener, IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { CallTimer } from "../settle/call-timer.ts";

/** How much may be on its way to a client before the gateway waits for it. Waiting costs a turn of the event loop each time. */
const MAX_UNCONFIRMED_BYTES = 128 * 1024;
/** The most that is held for one client. */
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

/** Where an answer goes whose client has disconnected. */
const NO_CLIENT: DirectController = { write: () => 0, flush: () => 0, close: () => {} };

/** Whether the commit deadline passes before there is anything to commit. */
export async function commitsEarly(
  { startedAtMs }: Pick<Call, "startedAtMs">,
  gateway: Gateway,
  opening: Promise<unknown>,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const watched: Watched = {
    watchIndex: NOT_WATCHED,
    check: (now) => {
      if (now - startedAtMs >= gateway.timings.commitDeadlineMs) resolve(true);
    },
  };
  gateway.watchdog.watch(watched);
  const settled = () => resolve(false);
  opening.then(settled, settled);
  const early = await promise;
  gateway.watchdog.unwatch(watched);
  return early;
}

/** The body of an answer that is written straight to the client's socket. */
export function directBody(client: ClientPresence, pull: (controller: DirectController) => unknown): ReadableStream {
  const source = { type: "direct", pull, cancel: () => client.markDisconnected() };
  return new ReadableStream(source as unknown as ConstructorParameters<typeof ReadableStream>[0]);
}

/**
 * The same of an answer that goes on to its end without its client. Should the client disconnect before the runtime
 * asks for the body, nothing else would begin it.
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
  const listener: DisconnectListener = { clientDisconnected: () => void begin(NO_CLIENT) };
  client.addListener(listener);
  return directBody(client, begin);
}

/**
 * What one client gets of a stream, and the memory for it. Until the commit it is held, for each attempt by itself; then it is
 * written as it comes; the last of it is kept until the call's row is committed.
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
   * The commit. The headers are sent with the first byte: where there is no content yet, a keep-alive is due at once. From
   * here on keep-alives are sent, and a client that reads nothing is disconnected.
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

  /** Sends what was rendered. False where the client must be waited for before more is sent. */
  send(rendered: ByteBuffer): boolean {
    if (rendered.length === 0 || this.#client.disconnected) return true;
    this.begun = true;
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

  /** Back-pressure: resolves when the client has taken what it was sent, or counts as disconnected. */
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

  /** The same for what was held: all of an answer that was complete before anything of it was sent. */
  keepHeld(held: ByteBuffer): void {
    this.#last = held;
  }

  /** Sends what was kept before its time, because the answer has failed: the client gets all of it, then the error. */
  sendKept(): void {
    const last = this.#last;
    this.#last = undefined;
    if (last) this.sendHeld(last);
  }

  /** Sends a text. Resolves when the client may be sent more. */
  async sendText(text: string): Promise<void> {
    if (text === "" || this.#client.disconnected) return;
    this.begun = true;
    this.#controller.write(text);
    this.#wroteAtMs = undefined;
    this.#unconfirmedBytes += text.length;
    if (this.#unconfirmedBytes >= MAX_UNCONFIRMED_BYTES) await this.taken();
    else this.#controller.flush();
  }

  /** An error in the client's own protocol, as the end of a stream. `position`: where the writer of the stream stands. */
  async fail(error: GatewayError, { incoming, body, modelInAnswer }: FailedCall, position?: unknown): Promise<void> {
    const { dialect, requestId, options } = incoming;
    const atSeconds = Math.floor(this.#gateway.clock.wallMs() / 1000);
    const call = { model: modelInAnswer, request: body, atSeconds };
    const writes = dialect.errors.encodeInStream(error, requestId, { options, begun: this.begun, position, call });
    for (const { text, pauseMs } of writes) {
      if (pauseMs > 0) await this.#gateway.clock.sleep(pauseMs);
      this.write(text);
    }
  }

  /** A text that is none of the answer: a keep-alive, or an error. */
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
    if (this.#last && !this.#client.disconnected) this.#controller.write(this.#last.view());
    this.#controller.close();
    this.dropLast();
  }

  /** Ends before the end of the answer. Where nothing in it can say so, whoever writes it has to break the connection. */
  breakOff(): void {
    this.#gateway.watchdog.unwatch(this);
    this.dropLast();
  }

  /**
   * All of an answer that was kept whole. At once, and not in a later turn: the runtime then sends headers and content together,
   * else each header by itself.
   */
  sendWhole(controller: DirectController): void {
    this.#controller = controller;
    this.close();
  }
}
