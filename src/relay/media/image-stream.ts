import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import type { Usage } from "../../canon/usage.ts";
import type { ImageResult, ImageSettings } from "../../media/image-reply.ts";
import { createImageEventEncoder, type ImageEventEncoder } from "../../media/images/image-events.ts";
import type { ImageWire } from "../../media/media-wire.ts";
import { answerHeaders } from "../answer-headers.ts";
import type { Gateway } from "../gateway.ts";
import { identifiedResponse } from "../identity-headers.ts";
import { inClientWords } from "./client-words.ts";
import { sumUsage } from "./gather-images.ts";
import { fitFor, gatheringFor, requestTold } from "./image-attempt.ts";
import { type ImageStep, imageSteps } from "./image-events.ts";
import { failureOf, nothingMade } from "./image-failures.ts";
import type { ImageRelay } from "./image-relay.ts";
import { awaited, bodyOf, isLate } from "./keep-waiting.ts";
import type { MediaOffer } from "./plan.ts";
import { settleImages } from "./settle-images.ts";
import { tryMediaOffers } from "./try-offers.ts";

const KEEP_ALIVE = ": keep-alive\n\n";

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
  const body = bodyOf(writeEvents(call, gateway, opening), () => {
    call.client.leave();
    leaving.abort();
  });
  const headers = answerHeaders(call, "text/event-stream");
  headers["cache-control"] = "no-cache";
  headers["x-accel-buffering"] = "no";
  return identifiedResponse(body, headers);
}

async function openAt(call: ImageRelay, gateway: Gateway, planned: MediaOffer<ImageWire>): Promise<OpenImages> {
  const fitted = await fitFor(call, planned);
  const steps = imageSteps(fitted, call.request.partialImages, gatheringFor(call, gateway, planned));
  return { steps, first: await steps.next() };
}

/** The text of a stream. Its last event waits until the ledger's row is committed. */
async function* writeEvents(call: ImageRelay, gateway: Gateway, opening: Opening): AsyncGenerator<string> {
  const { keepAliveMs } = gateway.timings;
  const createdSeconds = Math.floor(gateway.nowMs() / 1000);
  let encoder = createImageEventEncoder(call.request, createdSeconds);
  const results: ImageResult[] = [];
  let usage: Usage | undefined;
  let settings: ImageSettings | undefined;
  let planned: MediaOffer<ImageWire> | undefined;
  let settled = false;
  const settle = (outcome: string) => {
    settled = true;
    return settleImages(call, gateway, {
      outcome,
      planned,
      reply: { results, ...(usage === undefined ? {} : { usage }), ...(settings === undefined ? {} : { settings }) },
    });
  };
  const told = (error: GatewayError) =>
    inClientWords(planned?.provider.redactError(error) ?? error, call.request.paths);
  try {
    const opened = yield* awaited(opening, KEEP_ALIVE, keepAliveMs);
    planned = opened.planned;
    // Only now is it known who answers, and what was asked there.
    encoder = createImageEventEncoder(requestTold(call), createdSeconds);
    const { steps } = opened.result;
    let held: MadeStep | undefined;
    for (let next = opened.result.first; !next.done; next = yield* awaited(steps.next(), KEEP_ALIVE, keepAliveMs)) {
      const step = next.value;
      if (step.kind === "partial") {
        yield encoder.partial(step.picture, step.settings);
        continue;
      }
      // Some providers count picture by picture, others once at the end.
      if (step.usage !== undefined) usage = sumUsage(usage === undefined ? [step.usage] : [usage, step.usage]);
      if (step.kind === "usage") continue;
      results.push(step.result);
      if (step.result.kind !== "made") continue;
      settings ??= step.settings;
      const picture = { ...step, result: step.result };
      if (results.length < call.request.call.count) yield completed(picture, encoder);
      else {
        if (held) yield completed(held, encoder);
        held = picture;
      }
    }
    const unmade = results.filter((result) => result.kind !== "made");
    if (unmade.length === results.length) throw nothingMade(results);
    await settle("ok");
    if (held) yield completed(held, encoder, usage);
    // Clients read no further than an error: whatever was made stands before it.
    const [first] = unmade;
    if (first) yield encoder.error(told(failureOf(first)));
  } catch (thrown) {
    const error = asGatewayError(thrown);
    await settle(call.client.gone ? "client_gone" : error.kind);
    if (call.client.gone) return;
    if (error.kind === "internal")
      gateway.log.error({ err: error.cause ?? error }, "a stream failed inside the gateway");
    yield encoder.error(told(error));
  } finally {
    if (!settled) await settle("client_gone");
  }
}

type Made = Extract<ImageResult, { kind: "made" }>;
type MadeStep = Omit<Extract<ImageStep, { kind: "result" }>, "result"> & { result: Made };

function completed({ result, settings, usage }: MadeStep, encoder: ImageEventEncoder, last?: Usage): string {
  const used = usage ?? last;
  return encoder.completed(result.picture, {
    ...(settings === undefined ? {} : { settings }),
    ...(used === undefined ? {} : { usage: used }),
  });
}
