import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { Usage } from "../../canon/usage.ts";
import type { ImageResult } from "../../media/image-reply.ts";
import { createImageEventEncoder, type ImageEventEncoder } from "../../media/images/image-events.ts";
import type { ImageWire } from "../../media/media-wire.ts";
import { answerHeaders } from "../answer-headers.ts";
import type { Gateway } from "../gateway.ts";
import { identifiedResponse } from "../identity-headers.ts";
import { type ImageStep, imageSteps } from "./image-events.ts";
import { fitFor, type ImageRelay, inClientWords, settleImages } from "./images.ts";
import type { MediaOffer } from "./plan.ts";
import { tryMediaOffers } from "./try-offers.ts";

interface OpenImages {
  steps: AsyncGenerator<ImageStep>;
  first: IteratorResult<ImageStep>;
}

type Opening = Promise<{ result: OpenImages; planned: MediaOffer<ImageWire> }>;

/** Contract 2.14: a streamed answer. Until its first event another offer may still make good what one failed at. */
export async function streamImages(
  call: ImageRelay,
  gateway: Gateway,
  plan: readonly MediaOffer<ImageWire>[],
): Promise<Response> {
  const leaving = new AbortController();
  call.signal = AbortSignal.any([call.incoming.request.signal, leaving.signal]);
  const opening = tryMediaOffers(call, gateway, plan, (planned) => openAt(call, gateway, planned));
  if (!(await isLate(opening, gateway.timings.commitDeadlineMs))) await opening;
  opening.catch(() => {});
  const texts = writeEvents(call, gateway, opening);
  const body = new ReadableStream<string>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      call.client.leave();
      leaving.abort();
      await texts.return(undefined);
    },
  }).pipeThrough(new TextEncoderStream());
  const headers = answerHeaders(call, "text/event-stream");
  headers["cache-control"] = "no-cache";
  headers["x-accel-buffering"] = "no";
  return identifiedResponse(body, headers);
}

async function openAt(call: ImageRelay, gateway: Gateway, planned: MediaOffer<ImageWire>): Promise<OpenImages> {
  const fitted = await fitFor(call, planned);
  const steps = imageSteps(fitted, call.request.partialImages, {
    provider: planned.provider,
    wire: planned.wire,
    upstreamModel: planned.offer.upstreamModel,
    jobName: call.receiptId,
    signal: call.signal,
    paceFactor: gateway.timings.mediaPaceFactor,
    asked: call.request.call,
    fetchMedia: gateway.fetchMedia,
  });
  return { steps, first: await steps.next() };
}

/** Whether the deadline comes first: then the headers leave with a keep-alive, so that no proxy on the way gives up. */
async function isLate(opening: Opening, deadlineMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(true), deadlineMs);
  const settled = () => resolve(false);
  opening.then(settled, settled);
  const late = await promise;
  clearTimeout(timer);
  return late;
}

/** The text of a stream. Its last event waits until the ledger's row is committed. */
async function* writeEvents(call: ImageRelay, gateway: Gateway, opening: Opening): AsyncGenerator<string> {
  const { keepAliveMs } = gateway.timings;
  const encoder = createImageEventEncoder(call.request, Math.floor(gateway.nowMs() / 1000));
  const results: ImageResult[] = [];
  let usage: Usage | undefined;
  let planned: MediaOffer<ImageWire> | undefined;
  let settled = false;
  const settle = (outcome: string) => {
    settled = true;
    return settleImages(call, gateway, {
      outcome,
      planned,
      reply: { results, ...(usage === undefined ? {} : { usage }) },
    });
  };
  try {
    const opened = yield* awaited(opening, keepAliveMs);
    planned = opened.planned;
    const { steps } = opened.result;
    let held: ResultStep | undefined;
    for (let next = opened.result.first; !next.done; next = yield* awaited(steps.next(), keepAliveMs)) {
      const step = next.value;
      if (step.kind === "partial") {
        yield encoder.partial(step.picture, step.settings);
        continue;
      }
      if (step.usage !== undefined) usage = step.usage;
      if (step.kind === "usage") continue;
      results.push(step.result);
      if (held) yield completed(held, encoder);
      held = step;
    }
    if (!results.some((result) => result.kind === "made")) throw nothingMade(results);
    await settle("ok");
    if (held) yield completed(held, encoder, usage);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    await settle(call.client.gone ? "client_gone" : error.kind);
    if (call.client.gone) return;
    if (error.kind === "internal")
      gateway.log.error({ err: error.cause ?? error }, "a stream failed inside the gateway");
    const told = planned ? error.withMessage(planned.provider.redact(error.message)) : error;
    yield encoder.error(inClientWords(told, call.request));
  } finally {
    if (!settled) await settle("client_gone");
  }
}

type ResultStep = Extract<ImageStep, { kind: "result" }>;

function completed({ result, settings, usage }: ResultStep, encoder: ImageEventEncoder, last?: Usage): string {
  if (result.kind !== "made") return encoder.error(failureOf(result));
  const told = usage ?? last;
  return encoder.completed(result.picture, {
    ...(settings === undefined ? {} : { settings }),
    ...(told === undefined ? {} : { usage: told }),
  });
}

function failureOf(result: Exclude<ImageResult, { kind: "made" }>): GatewayError {
  return result.kind === "failed" ? result.error : new GatewayError("content_blocked", result.reason);
}

/** Why there is no picture at all. */
export function nothingMade(results: readonly ImageResult[]): GatewayError {
  const [first] = results;
  if (first === undefined || first.kind === "made") {
    return new GatewayError("upstream_failed", "The provider's answer holds no picture.");
  }
  return failureOf(first);
}

/** Waits for something, and keeps the client's connection alive meanwhile. */
async function* awaited<T>(work: Promise<T>, keepAliveMs: number): AsyncGenerator<string, T> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<"silent">();
    const timer = setTimeout(() => resolve("silent"), keepAliveMs);
    const first = await Promise.race([work.then((value) => ({ value })), promise]);
    clearTimeout(timer);
    if (first !== "silent") return first.value;
    yield ": keep-alive\n\n";
  }
}
