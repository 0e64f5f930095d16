import type { ByteBuffer } from "../../base/byte-buffer.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { Dialect, TapProgress } from "../../dialects/dialect.ts";
import type { TextTarget } from "../../routing/target.ts";
import type { ChunkTaker } from "../../wire/http/http-exchange.ts";
import type { Attempt } from "../attempt/attempt.ts";
import { tryPlan } from "../attempt/hedge.ts";
import { observeBreak } from "../attempt/observe-attempt.ts";
import { withOwnId } from "../attempt/with-own-id.ts";
import { type Call, CallEndedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { capturedController } from "../settle/capture-call.ts";
import { publishCallCommitted } from "../settle/publish-events.ts";
import { isAbandoned, settle } from "../settle/settle.ts";
import { streamHeaders } from "./answer-headers.ts";
import { AnswerSoFar } from "./answer-so-far.ts";
import { ClientOutput, commitsEarly, type DirectController, directBody, streamedBody } from "./client-output.ts";
import { identifiedResponse } from "./identity-headers.ts";
import { type OpenStream, openStream } from "./open-stream.ts";
import { Survivor, survives } from "./survive.ts";

/** A streamed response: committed at its first content or at the deadline, then passed on as it arrives. */
export async function relayStream(call: Call, gateway: Gateway, plan: readonly TextTarget[]): Promise<Response> {
  const { dialect, options } = call.incoming;
  const output = new ClientOutput(call.client, gateway, dialect.http.keepAlive, call.timer);
  output.keeper = call.keeper;
  // What a guard holds back is lost with its stream, and another offer cannot continue from there.
  const survivor =
    survives(call, plan) && !call.guards?.inForce.actsOnResponse
      ? new Survivor(call, gateway, output, plan)
      : undefined;
  const discard = call.routing.hedge
    ? ({ held, attempt }: OpenStream) => {
        output.drop(held);
        attempt.close();
      }
    : undefined;
  const open = (attempt: Attempt) =>
    openStream(attempt, output, gateway.clock, survivor && new AnswerSoFar(call, gateway, attempt));
  const opening = tryPlan(call, gateway, plan, open, discard);
  // A protocol without keep-alives has nothing to send early, and waiting keeps a real status possible.
  const early = dialect.http.keepAlive !== undefined && (await commitsEarly(call, gateway, opening));
  const opened = early ? undefined : await openedOrReported(opening, dialect.errors);
  const relay = new StreamRelay(call, gateway, output, opening, opened, survivor);
  const isWhole = opened?.tap.state === "ended" && opened.tap.failure === undefined;
  const { capture } = call;
  if (isWhole) {
    await relay.settleWhole(opened);
    capture?.answered(opened.held.view());
  }
  const body = isWhole
    ? directBody(call.client, (controller) => output.sendWhole(controller))
    : streamedBody(call.client, (controller) =>
        relay.run(capture === undefined ? controller : capturedController(controller, capture)),
      );
  return identifiedResponse(body, streamHeaders(call, dialect.http.streamType(options)));
}

/** Undefined for a failure that is reported inside the stream, where the relay meets it again. */
function openedOrReported(opening: Promise<OpenStream>, errors: Dialect["errors"]): Promise<OpenStream | undefined> {
  return opening.catch((thrown: unknown) => {
    if (errors.belongsInStream?.(asGatewayError(thrown)) === true) return undefined;
    throw thrown;
  });
}

class StreamRelay {
  readonly #call: Call;
  readonly #gateway: Gateway;
  readonly #output: ClientOutput;
  readonly #opening: Promise<OpenStream>;
  readonly #survivor: Survivor | undefined;
  #stream: OpenStream | undefined;
  #firstContentAtMs: number | undefined;
  #settled = false;

  constructor(
    call: Call,
    gateway: Gateway,
    output: ClientOutput,
    opening: Promise<OpenStream>,
    opened: OpenStream | undefined,
    survivor: Survivor | undefined,
  ) {
    this.#call = call;
    this.#gateway = gateway;
    this.#output = output;
    this.#opening = opening;
    this.#stream = opened;
    this.#survivor = survivor;
  }

  /** Runs to the end of the upstream's answer, whether or not the client stays connected (H26). */
  async run(controller: DirectController): Promise<void> {
    this.#output.commit(controller, this.#stream !== undefined);
    try {
      // An open stream is written to before the first wait, so that its headers are sent with its first content.
      let stream = this.#stream ?? (await this.#opening);
      for (;;) {
        this.#begin(stream);
        try {
          await this.#passOn(stream);
          break;
        } catch (thrown) {
          const next = await this.#goOn(stream, thrown);
          if (next === undefined) throw thrown;
          stream = next;
        }
      }
      await this.#settle("ok");
    } catch (thrown) {
      await this.#fail(asGatewayError(thrown));
    } finally {
      this.#output.close();
    }
  }

  /** A response that was complete before anything was sent. It is sent once its row is committed. */
  async settleWhole(stream: OpenStream): Promise<void> {
    this.#begin(stream);
    stream.reader.release();
    stream.reader.end(stream.held);
    this.#output.keepHeld(stream.held);
    await this.#settle("ok");
  }

  #begin(stream: OpenStream): void {
    this.#stream = stream;
    this.#call.timer.to("stream");
    // An offer that continues the response needs the same request.
    if (stream.soFar === undefined) this.#call.request = undefined;
    if (this.#firstContentAtMs !== undefined) return;
    this.#firstContentAtMs = this.#gateway.clock.nowMs();
    if (this.#gateway.events.watched) publishCallCommitted(this.#call, this.#gateway);
  }

  /** The rest of a stream that broke off, from another offer; undefined if there is none. */
  async #goOn(stream: OpenStream, thrown: unknown): Promise<OpenStream | undefined> {
    const { soFar } = stream;
    if (this.#survivor === undefined || soFar === undefined) return undefined;
    return await this.#survivor.goOn({ stream, soFar, firstContentAtMs: this.#firstContentAtMs }, thrown);
  }

  /** Sends everything but what must wait for the ledger, which is kept. */
  async #passOn(stream: OpenStream): Promise<void> {
    const output = this.#output;
    const { tap, reader, attempt } = stream;
    let stopped = !this.#passHeld(stream);
    const taker: ChunkTaker = {
      atOnce: true,
      take: (chunk) => {
        const rendered = output.buffer;
        return this.#pass(reader.take(chunk, rendered), rendered, attempt) && !reader.isBehind;
      },
    };
    while (tap.state !== "ended") {
      if (stopped) await this.#waitForClient(attempt);
      try {
        if (reader.isBehind) {
          await reader.ready();
          const rendered = output.buffer;
          stopped = !this.#pass(reader.takeMore(rendered), rendered, attempt);
          continue;
        }
        stopped = await reader.readWhile(taker);
      } catch (error) {
        // After the end of the content nothing that matters is missing, so the client gets the complete response.
        if (tap.state === "complete" && !(error instanceof GatewayError) && !this.#call.client.disconnected) break;
        throw attempt.explain(error);
      }
      if (stopped) continue;
      const rendered = output.buffer;
      this.#pass(reader.takeRest(rendered), rendered, attempt);
      if (reader.isBehind) continue;
      if (tap.state === "open")
        throw new GatewayError("upstream_failed", "The provider closed the stream in the middle of its response.");
    }
    reader.release();
    const owed = output.buffer;
    const { failure } = reader.end(owed);
    if (failure) throw this.#failed(failure, owed);
    output.keep(owed);
  }

  /** Sends what was held until the commit. Returns whether more may be read at once. */
  #passHeld({ tap: { state, failure }, held, attempt }: OpenStream): boolean {
    if (failure !== undefined || state === "open") {
      const more = this.#output.sendHeld(held);
      if (failure) throw failure;
      return more;
    }
    this.#output.keepHeld(held);
    attempt.expectEnd(this.#gateway.timings.afterFinishMs);
    return true;
  }

  /** Sends or keeps one rendered chunk. Returns whether the next may be read at once. */
  #pass({ state, failure }: TapProgress, rendered: ByteBuffer, attempt: Attempt): boolean {
    if (failure !== undefined) throw this.#failed(failure, rendered);
    if (state === "open") return this.#output.send(rendered);
    this.#output.keep(rendered);
    attempt.expectEnd(this.#gateway.timings.afterFinishMs);
    return state === "complete";
  }

  /** What was rendered before a failure reaches the client, in order, whichever packet it came in (H31). */
  #failed(failure: GatewayError, rendered: ByteBuffer): GatewayError {
    this.#output.sendKept();
    this.#output.send(rendered);
    return failure;
  }

  /** The upstream's timeouts are paused while the gateway waits for its client. */
  async #waitForClient(attempt: Attempt): Promise<void> {
    attempt.pause();
    await this.#output.taken();
    attempt.resume();
  }

  async #fail(error: GatewayError): Promise<void> {
    const { client } = this.#call;
    const attempt = this.#stream?.attempt;
    attempt?.close();
    if (attempt !== undefined) observeBreak(this.#gateway, attempt, error);
    const { cache } = this.#call;
    const named = cache === undefined ? error : withOwnId(error, cache.ids);
    const shown = attempt?.target.provider.redactError(named) ?? named;
    await this.#settle(error.kind, error, shown);
    // Only the proper end is withheld. Everything before it is part of the response and of its event numbers.
    if (this.#stream?.tap.state === "ended") this.#output.dropLast();
    else this.#output.sendKept();
    if (client.disconnected) return;
    if (error.kind === "internal") this.#gateway.log.error({ err: error.cause ?? error }, "internal error in a stream");
    await this.#output.fail(shown, this.#call, this.#stream?.tap.position);
  }

  #settle(end: string, error?: GatewayError, shown?: GatewayError): Promise<void> {
    if (this.#settled) return Promise.resolve();
    this.#settled = true;
    const tap = this.#stream?.tap;
    // The usage of an offer that failed before its first content.
    const used = tap === undefined ? error?.failure?.usage : undefined;
    const outcome = this.#call.client.disconnected ? "client_gone" : end;
    return settle(this.#call, this.#gateway, {
      outcome,
      ended: error instanceof CallEndedError,
      // After the stop reason and the usage nothing that matters is missing.
      whole: end === "ok" || (outcome === "client_gone" && tap?.stop !== undefined && tap.usage?.output !== undefined),
      produced: tap?.contentSeen === true || end === "ok" || isAbandoned(this.#call) || used !== undefined,
      usage: tap?.usage ?? used,
      usageRuns: tap?.usageRuns === true || used !== undefined,
      generatedCharacters: tap?.generatedCharacters ?? 0,
      generatedMedia: tap?.generatedMedia,
      reasoningSeen: tap?.reasoningSeen === true,
      stop: tap?.stop,
      firstContentAtMs: this.#firstContentAtMs,
      error: shown,
    });
  }
}
