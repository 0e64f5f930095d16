import { GatewayError } from "../../canon/error.ts";
import type { LiveStep, LiveUpstreamCodec } from "../../canon/live.ts";
import { failureToError } from "../../dialects/upstream-failure.ts";
import type { LiveTarget } from "../../routing/target.ts";
import { type Connect, type HostSocket, isClean, type SocketEnd, type SocketReceiver } from "../../wire/connect.ts";
import { connectionFailure } from "../attempt/connection-failure.ts";

/** What a host connection reports to its session. */
export interface HostReceiver {
  hostFrame(frame: string): void;
  hostEnded(end: HostEnd): void;
}

/** How a host has ended its connection. */
export interface HostEnd {
  readonly failure: GatewayError;
  /** Its own code and reason, if it has closed the connection properly. */
  readonly close: { readonly code: number; readonly reason: string } | undefined;
}

const utf8 = new TextDecoder();

/** A host that sends more while its session is being opened is not believable. */
const MAX_EARLY = 64;

/** A WebSocket to the host of a session, and the codec of its protocol. */
export class HostConnection implements SocketReceiver {
  readonly target: LiveTarget;
  readonly codec: LiveUpstreamCodec;
  /** The model as the host's protocol writes it. */
  readonly model: string;
  readonly #socket: HostSocket;
  readonly #opening = Promise.withResolvers<void>();
  /** Frames that came before there was anyone to read them. */
  #early: string[] = [];
  #waiting: PromiseWithResolvers<void> | undefined;
  #receiver: HostReceiver | undefined;
  #end: SocketEnd | undefined;

  constructor(
    target: LiveTarget,
    codec: LiveUpstreamCodec,
    open: { connect: Connect; url: string; headers: Readonly<Record<string, string>>; model: string },
  ) {
    this.target = target;
    this.codec = codec;
    this.model = open.model;
    // A failure may come before anyone waits for it.
    this.#opening.promise.catch(() => {});
    this.#socket = open.connect(open, this);
  }

  /** Resolves when the handshake is done. */
  get open(): Promise<void> {
    return this.#opening.promise;
  }

  /** The next frame. Rejects when there will be none. For the opening of a session only. */
  async next(): Promise<string> {
    for (;;) {
      const frame = this.#early.shift();
      if (frame !== undefined) return frame;
      if (this.#end !== undefined) throw endFailure(this.#end);
      this.#waiting = Promise.withResolvers();
      await this.#waiting.promise;
    }
  }

  /** From now on the session gets each frame, and the end. */
  listen(receiver: HostReceiver): void {
    this.#receiver = receiver;
    for (const frame of this.#early.splice(0)) receiver.hostFrame(frame);
    if (this.#end !== undefined) receiver.hostEnded(hostEnd(this.#end));
  }

  send(frames: readonly string[]): void {
    for (const frame of frames) this.#socket.send(frame);
  }

  /** Sends what follows from a step of the codec, and returns the same. */
  carry(step: LiveStep): LiveStep {
    this.send(step.frames);
    return step;
  }

  get waitingBytes(): number {
    return this.#socket.waitingBytes;
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  ping(): void {
    this.#socket.ping();
  }

  close(): void {
    if (this.#end === undefined) this.#socket.close();
  }

  terminate(): void {
    if (this.#end === undefined) this.#socket.terminate();
  }

  // What the socket reports:

  opened(): void {
    this.#opening.resolve();
  }

  received(frame: string | Uint8Array): void {
    // Some hosts send text in binary frames.
    const text = typeof frame === "string" ? frame : utf8.decode(frame);
    if (this.#receiver !== undefined) {
      this.#receiver.hostFrame(text);
      return;
    }
    if (this.#early.length >= MAX_EARLY) this.#socket.terminate();
    else this.#early.push(text);
    this.#waiting?.resolve();
  }

  ended(end: SocketEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#opening.reject(endFailure(end));
    this.#waiting?.resolve();
    this.#receiver?.hostEnded(hostEnd(end));
  }
}

/** Close codes of hosts that the client has caused. */
const CALLERS_CODES: ReadonlySet<number> = new Set([1003, 1007, 1008, 1009]);
const ABOUT_CREDENTIALS = /api.?key|credential|unauth|permission|denied|billing|quota exceeded for project/i;
const NOT_FOUND = /not found|not supported|no longer available/i;
const BUSY: ReadonlySet<number> = new Set([1012, 1013]);

const hostEnd = (end: SocketEnd): HostEnd => ({
  failure: endFailure(end),
  close: isClean(end) ? { code: end.code, reason: end.reason } : undefined,
});

/** Why a host has closed a connection, or not opened it. */
function endFailure(end: SocketEnd): GatewayError {
  const { code, reason, refused } = end;
  if (refused?.status !== undefined) {
    const message = `The provider refused the connection with HTTP ${refused.status}.`;
    const error = failureToError({ status: refused.status, message: undefined });
    return error.kind === "invalid_request" || error.kind === "not_found"
      ? new GatewayError(error.kind, message, { failure: { status: refused.status } })
      : error;
  }
  if (refused !== undefined) return connectionFailure("connect", refused.cause);
  const failure = { said: `closed with ${code}${reason === "" ? "" : `: ${reason}`}` };
  if (CALLERS_CODES.has(code) && reason !== "") {
    if (ABOUT_CREDENTIALS.test(reason)) return failureToError({ status: 403, message: reason }).withFailure(failure);
    const kind = NOT_FOUND.test(reason) ? "not_found" : "invalid_request";
    return new GatewayError(kind, reason, { failure });
  }
  if (BUSY.has(code))
    return new GatewayError("overloaded", "The provider is overloaded. Try again shortly.", { failure });
  const how = isClean(end) ? ` with the code ${code}` : "";
  return new GatewayError("upstream_failed", `The provider closed the connection${how}.`, { failure });
}
