import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { answerHeaders } from "./answer-headers.ts";
import { type Call, ClientGoneError } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { type OpenStream, openStream } from "./open-stream.ts";
import { settle } from "./settle.ts";
import { tryOffers } from "./try-offers.ts";

/** How much may be on its way to a client before the gateway waits for it. Waiting costs a turn, so not every piece does. */
const MAX_UNCONFIRMED = 128 * 1024;

/** What Bun hands to a stream of type "direct": writes go straight to the socket. */
interface DirectController {
  write(text: string): number | Promise<number>;
  /** With `wait`, resolves when the client's socket has taken everything. */
  flush(wait?: boolean): number | Promise<number>;
  close(): void;
}

/** A streamed answer: committed at its first content or at the deadline, then passed on as it comes. */
export async function relayStream(
  call: Call,
  gateway: Gateway,
  plan: readonly PlannedOffer<Provider>[],
): Promise<Response> {
  const opening = tryOffers(call, gateway, plan, (attempt) => openStream(call, attempt));
  // Where the protocol knows no keep-alive there is nothing to send early, and waiting keeps a real status possible.
  const early = call.incoming.dialect.keepAlive !== undefined && (await commitsEarly(call, gateway, opening));
  if (!early) await opening;
  if (call.client.gone) throw new ClientGoneError();
  const writer = new StreamWriter(call, gateway, opening, early);
  const body = new ReadableStream({
    type: "direct",
    pull: (controller: DirectController) => writer.run(controller),
    cancel: () => call.client.leave(),
  } as unknown as ConstructorParameters<typeof ReadableStream>[0]);
  const type = call.incoming.arrayFraming ? "application/json" : "text/event-stream";
  const headers = answerHeaders(call, type);
  headers["cache-control"] = "no-cache";
  headers["x-accel-buffering"] = "no";
  return new Response(body, { headers });
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
  #wroteAtMs: number;
  #begun = false;
  /** Characters written since the client was last known to have taken everything. */
  #unconfirmed = 0;
  #blockedSinceMs: number | undefined;
  #running = false;
  #settled = false;

  constructor(call: Call, gateway: Gateway, opening: Promise<OpenStream>, early: boolean) {
    this.#call = call;
    this.#gateway = gateway;
    this.#opening = opening;
    // The headers leave with the first byte: a commit without content owes its client a keep-alive at once.
    this.#wroteAtMs = early ? Number.NEGATIVE_INFINITY : gateway.nowMs();
    // Should a client leave before the runtime asks for the body's first byte, nothing else would settle the call.
    call.client.left.then(() => {
      if (!this.#running) void this.#settle("client_gone");
    });
  }

  async run(controller: DirectController): Promise<void> {
    this.#running = true;
    const { client, incoming } = this.#call;
    const { keepAlive } = incoming.dialect;
    const { keepAliveMs, slowReaderMs } = this.#gateway.timings;
    const unwatch = this.#gateway.watchdog.watch((now) => {
      if (this.#blockedSinceMs !== undefined) {
        if (now - this.#blockedSinceMs > slowReaderMs) client.leave();
      } else if (keepAlive !== undefined && !client.gone && now - this.#wroteAtMs >= keepAliveMs) {
        this.#wroteAtMs = now;
        controller.write(keepAlive);
        controller.flush();
      }
    });
    try {
      const last = await this.#passOn(controller);
      await this.#settle("ok");
      if (last !== "") controller.write(last);
    } catch (thrown) {
      await this.#fail(controller, asGatewayError(thrown));
    } finally {
      unwatch();
      controller.close();
    }
  }

  /** Everything but the last piece, which must wait for the ledger. */
  async #passOn(controller: DirectController): Promise<string> {
    this.#stream = await this.#opening;
    this.#call.received = undefined;
    const { tap, reader, attempt } = this.#stream;
    this.#firstContentAtMs = this.#gateway.nowMs();
    let last = this.#stream.held;
    while (tap.state !== "ended") {
      if (tap.state === "open" && last !== "") {
        const full = this.#write(controller, last);
        if (full) await this.#waitForReader(controller);
        last = "";
      }
      let text: string | undefined;
      try {
        text = reader.take(await reader.read());
      } catch (error) {
        throw attempt.explain(error);
      }
      if (tap.failure) {
        if (text) this.#write(controller, text);
        throw tap.failure;
      }
      if (text === undefined) {
        if (tap.state === "open") {
          throw new GatewayError("upstream_failed", "The provider closed the stream in the middle of its answer.");
        }
        break;
      }
      last += text;
    }
    reader.release();
    return last + tap.end();
  }

  /** Whether so much is on its way now that the client must be waited for. */
  #write(controller: DirectController, text: string): boolean {
    if (this.#call.client.gone) throw new ClientGoneError();
    this.#begun = true;
    controller.write(text);
    this.#wroteAtMs = this.#gateway.nowMs();
    this.#unconfirmed += text.length;
    if (this.#unconfirmed >= MAX_UNCONFIRMED) return true;
    controller.flush();
    return false;
  }

  /** Back-pressure: the upstream is read on only when the client has taken what it was sent, or is taken for gone. */
  async #waitForReader(controller: DirectController): Promise<void> {
    const { client } = this.#call;
    this.#blockedSinceMs = this.#wroteAtMs;
    this.#stream?.attempt.pause();
    await Promise.race([controller.flush(true), client.left]);
    this.#stream?.attempt.resume();
    this.#blockedSinceMs = undefined;
    this.#unconfirmed = 0;
    if (client.gone) throw new ClientGoneError();
  }

  async #fail(controller: DirectController, error: GatewayError): Promise<void> {
    const { client, incoming } = this.#call;
    this.#stream?.attempt.close();
    await this.#settle(client.gone ? "client_gone" : error.kind);
    if (client.gone) return;
    if (error.kind === "internal")
      this.#gateway.log.error({ err: error.cause ?? error }, "a stream failed inside the gateway");
    const provider = this.#stream?.planned.provider;
    const told = provider ? error.withMessage(provider.redact(error.message)) : error;
    const form = { array: incoming.arrayFraming, begun: this.#begun };
    for (const { text, pauseMs } of incoming.dialect.encodeStreamError(told, incoming.requestId, form)) {
      if (pauseMs > 0) await Bun.sleep(pauseMs);
      controller.write(text);
      controller.flush();
    }
  }

  #settle(outcome: string): Promise<void> {
    if (this.#settled) return Promise.resolve();
    this.#settled = true;
    const tap = this.#stream?.tap;
    return settle(this.#call, this.#gateway, {
      outcome,
      planned: this.#stream?.planned,
      produced: tap?.contentSeen === true || outcome === "ok",
      usage: tap?.usage,
      usageRuns: tap?.usageRuns === true,
      generatedCharacters: tap?.generatedCharacters ?? 0,
      stop: tap?.stop,
      firstContentAtMs: this.#firstContentAtMs,
    });
  }
}
