import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { Tap } from "../dialects/dialect.ts";
import type { TextTarget } from "../routing/target.ts";
import { Scratch } from "../wire/scratch.ts";
import { answerHeaders } from "./answer-headers.ts";
import { beginAttempt } from "./attempt.ts";
import type { Call } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { identifiedResponse } from "./identity-headers.ts";
import { heldRooms, MAX_HELD_BYTES, type OpenStream, openStream } from "./open-stream.ts";
import { isAbandoned, settle } from "./settle.ts";
import { tryOffers } from "./try-offers.ts";

/** How much may be on its way to a client before the gateway waits for it. Waiting costs a turn, so not every piece does. */
const MAX_UNCONFIRMED = 128 * 1024;

/** What an open stream's pieces are rendered into: each is written in the turn in which it came. */
const room = new Scratch();

/** What Bun hands to a stream of type "direct": writes go straight to the socket, and what it does not take is copied. */
export interface DirectController {
  write(text: string | Uint8Array): number | Promise<number>;
  /** With `wait`, resolves when the client's socket has taken everything. */
  flush(wait?: boolean): number | Promise<number>;
  close(): void;
}

/** Where an answer goes whose client has left. */
const NOBODY: DirectController = { write: () => 0, flush: () => 0, close: () => {} };

/** A streamed answer: committed at its first content or at the deadline, then passed on as it comes. */
export async function relayStream(call: Call, gateway: Gateway, plan: readonly TextTarget[]): Promise<Response> {
  const opening = tryOffers(call, gateway, plan, beginAttempt(call, gateway), openStream);
  // Where the protocol knows no keep-alive there is nothing to send early, and waiting keeps a real status possible.
  const early = call.incoming.dialect.keepAlive !== undefined && (await commitsEarly(call, gateway, opening));
  const opened = early ? undefined : await opening;
  const writer = new StreamWriter(call, gateway, opening, opened);
  const ended = opened?.tap.state === "ended" && opened.tap.failure === undefined;
  const whole = ended ? await writer.whole(opened) : undefined;
  const body = new ReadableStream({
    type: "direct",
    pull: (controller: DirectController) => (whole === undefined ? writer.run(controller) : sendAll(controller, whole)),
    cancel: () => call.client.leave(),
  } as unknown as ConstructorParameters<typeof ReadableStream>[0]);
  const { dialect, options } = call.incoming;
  const headers = answerHeaders(call, dialect.streamType(options));
  headers["cache-control"] = "no-cache";
  headers["x-accel-buffering"] = "no";
  return identifiedResponse(body, headers);
}

/** At once, and not in a later turn: the runtime then sends headers and content together, else each header by itself. */
function sendAll(controller: DirectController, held: Scratch): void {
  controller.write(held.taken());
  controller.close();
  heldRooms.giveBack(held);
}

/** Whether the deadline comes before the stream is open or has failed. */
async function commitsEarly(call: Call, gateway: Gateway, opening: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const unwatch = gateway.watchdog.watch((now) => {
    if (now - call.startedAtMs >= gateway.timings.commitDeadlineMs) resolve(true);
  });
  const settled = () => resolve(false);
  opening.then(settled, settled);
  const early = await promise;
  unwatch();
  return early;
}

class StreamWriter {
  readonly #call: Call;
  readonly #gateway: Gateway;
  readonly #opening: Promise<OpenStream>;
  #stream: OpenStream | undefined;
  #firstContentAtMs: number | undefined;
  /** When something was last written, as the watchdog saw it. */
  #wroteAtMs: number | undefined;
  #begun = false;
  /** Characters or bytes written since the client was last known to have taken everything. */
  #unconfirmed = 0;
  #blockedSinceMs: number | undefined;
  /** What the client gets when the ledger's row is committed: everything behind the end of the content. */
  #last: Scratch | undefined;
  #running = false;
  #settled = false;

  constructor(call: Call, gateway: Gateway, opening: Promise<OpenStream>, opened: OpenStream | undefined) {
    this.#call = call;
    this.#gateway = gateway;
    this.#opening = opening;
    this.#stream = opened;
    // The headers leave with the first byte: a commit without content owes its client a keep-alive at once.
    this.#wroteAtMs = opened ? undefined : Number.NEGATIVE_INFINITY;
    // Should a client leave before the runtime asks for the body's first byte, nothing else would settle the call.
    call.client.left.then(() => this.run(NOBODY));
  }

  /** To the end of the upstream's answer, whether or not the client stays for it (H26). */
  async run(controller: DirectController): Promise<void> {
    if (this.#running) {
      controller.close();
      return;
    }
    this.#running = true;
    const { client, incoming } = this.#call;
    const { keepAlive } = incoming.dialect;
    const { keepAliveMs, slowReaderMs } = this.#gateway.timings;
    const unwatch = this.#gateway.watchdog.watch((now) => {
      this.#wroteAtMs ??= now;
      if (this.#blockedSinceMs !== undefined) {
        if (now - this.#blockedSinceMs <= slowReaderMs) return;
        client.hangUp();
      } else if (keepAlive !== undefined && !client.gone && now - this.#wroteAtMs >= keepAliveMs) {
        this.#wroteAtMs = now;
        controller.write(keepAlive);
        controller.flush();
      }
    });
    try {
      await this.#passOn(controller);
      await this.#settle("ok");
      if (this.#last && !client.gone) controller.write(this.#last.taken());
    } catch (thrown) {
      await this.#fail(controller, asGatewayError(thrown));
    } finally {
      unwatch();
      controller.close();
      if (this.#last) heldRooms.giveBack(this.#last);
    }
  }

  /** An answer that had come to its end before anything of it was sent: all of it, when its row is committed. */
  async whole(stream: OpenStream): Promise<Scratch> {
    this.#running = true;
    this.#begin(stream);
    stream.reader.release();
    stream.held.putText(stream.tap.end());
    await this.#settle("ok");
    return stream.held;
  }

  #begin(stream: OpenStream): void {
    this.#stream = stream;
    this.#call.request = undefined;
    this.#firstContentAtMs = this.#gateway.clock.nowMs();
  }

  /**
   * Everything but what must wait for the ledger, which gathers in `#last`. A stream that is open already is written to
   * before the first wait, so that its headers leave together with its first content.
   */
  async #passOn(controller: DirectController): Promise<void> {
    const stream = this.#stream ?? (await this.#opening);
    this.#begin(stream);
    const { tap, reader, attempt } = stream;
    let full = this.#passHeld(controller, stream);
    const use = (piece: Uint8Array): boolean => {
      room.clear();
      reader.take(piece, room);
      return this.#passRoom(controller, tap);
    };
    while (tap.state !== "ended") {
      if (full) await this.#waitForReader(controller);
      try {
        full = await reader.readWhile(use);
      } catch (error) {
        // Behind the end of the content only trimmings are missing: what came is whole, and the client gets it.
        if (tap.state === "complete" && !(error instanceof GatewayError) && !this.#call.client.gone) break;
        throw attempt.explain(error);
      }
      if (full) continue;
      room.clear();
      if (reader.takeLast(room)) this.#passRoom(controller, tap);
      else if (tap.state !== "open") break;
      else throw new GatewayError("upstream_failed", "The provider closed the stream in the middle of its answer.");
    }
    reader.release();
    this.#keep(tap.end());
  }

  /** What was held until the commit. Gives whether the client must be waited for. */
  #passHeld(controller: DirectController, { tap, held, attempt }: OpenStream): boolean {
    if (tap.state !== "open" && tap.failure === undefined) {
      this.#last = held;
      attempt.expectEnd(this.#gateway.timings.afterFinishMs);
      return false;
    }
    const full = held.length > 0 && this.#write(controller, held.taken());
    heldRooms.giveBack(held);
    if (tap.failure) throw tap.failure;
    return full;
  }

  /** What one piece was rendered to. Gives whether the next may come at once. */
  #passRoom(controller: DirectController, tap: Tap): boolean {
    const atOnce = tap.failure !== undefined || tap.state === "open";
    const full = atOnce && room.length > 0 && this.#write(controller, room.taken());
    if (tap.failure) throw tap.failure;
    if (atOnce) return !full;
    this.#keep(room.taken());
    this.#stream?.attempt.expectEnd(this.#gateway.timings.afterFinishMs);
    return tap.state === "complete";
  }

  #keep(text: string | Uint8Array): void {
    if (text.length === 0 || this.#call.client.gone) return;
    this.#last ??= heldRooms.take();
    if (this.#last.length + text.length > MAX_HELD_BYTES)
      throw new GatewayError("upstream_failed", "The provider went on and on behind the end of its answer.");
    if (typeof text === "string") this.#last.putText(text);
    else this.#last.putBytes(text);
  }

  /** Whether so much is on its way now that the client must be waited for. */
  #write(controller: DirectController, text: Uint8Array): boolean {
    if (this.#call.client.gone) return false;
    this.#begun = true;
    controller.write(text);
    this.#wroteAtMs = undefined;
    this.#unconfirmed += text.length;
    if (this.#unconfirmed >= MAX_UNCONFIRMED) return true;
    controller.flush();
    return false;
  }

  /** Back-pressure: the upstream is read on only when the client has taken what it was sent, or is taken for gone. */
  async #waitForReader(controller: DirectController): Promise<void> {
    const { client } = this.#call;
    this.#blockedSinceMs = this.#gateway.clock.nowMs();
    this.#stream?.attempt.pause();
    await Promise.race([controller.flush(true), client.left]);
    this.#stream?.attempt.resume();
    this.#blockedSinceMs = undefined;
    this.#unconfirmed = 0;
  }

  async #fail(controller: DirectController, error: GatewayError): Promise<void> {
    const { client, incoming } = this.#call;
    this.#stream?.attempt.close();
    await this.#settle(error.kind);
    if (client.gone) return;
    if (error.kind === "internal") this.#gateway.log.error({ err: error.cause ?? error }, "internal error in a stream");
    const provider = this.#stream?.attempt.target.provider;
    const told = provider?.redactError(error) ?? error;
    const state = { options: incoming.options, begun: this.#begun };
    for (const { text, pauseMs } of incoming.dialect.encodeStreamError(told, incoming.requestId, state)) {
      if (pauseMs > 0) await this.#gateway.clock.sleep(pauseMs);
      controller.write(text);
      controller.flush();
    }
  }

  #settle(end: string): Promise<void> {
    if (this.#settled) return Promise.resolve();
    this.#settled = true;
    const tap = this.#stream?.tap;
    const outcome = this.#call.client.gone ? "client_gone" : end;
    return settle(this.#call, this.#gateway, {
      outcome,
      // Behind the stop and the usage only trimmings are missing, and nobody waits for them.
      whole: end === "ok" || (outcome === "client_gone" && tap?.stop !== undefined && tap.usage?.output !== undefined),
      produced: tap?.contentSeen === true || end === "ok" || isAbandoned(this.#call),
      usage: tap?.usage,
      usageRuns: tap?.usageRuns === true,
      generatedCharacters: tap?.generatedCharacters ?? 0,
      reasoningSeen: tap?.reasoningSeen === true,
      stop: tap?.stop,
      firstContentAtMs: this.#firstContentAtMs,
    });
  }
}
