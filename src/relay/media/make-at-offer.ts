import { GatewayError } from "../../canon/error.ts";
import { boundNotes } from "../../canon/notes.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { ImageAdapter } from "../../media/adapter.ts";
import { fitImageCall } from "../../media/fit-image-call.ts";
import type { FittedImageCall, ImageCall } from "../../media/image-call.ts";
import type { ImageReply, ImageResult } from "../../media/image-reply.ts";
import type { ImageRequest } from "../../media/image-request.ts";
import { whiteMask } from "../../media/white-mask.ts";
import type { Provider } from "../../providers/provider.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { refuseNotes } from "../attempt/refuse-notes.ts";
import type { Gateway } from "../gateway.ts";
import { firstRequestCapture } from "../settle/capture-call.ts";
import { traceLines } from "../settle/trace-call.ts";
import { collectImages, type ImageBatch } from "./collect-images.ts";
import { mediaOf } from "./exchange.ts";
import type { ImageAttempt, ImageRelay } from "./image-attempt.ts";
import { streamFor } from "./image-events.ts";
import { unreadExtras } from "./unread-extras.ts";

/** Generates all images at one offer. Throws if there is no result: neither an image nor a blocked one. */
export async function imagesOf(call: ImageRelay, gateway: Gateway, attempt: ImageAttempt): Promise<ImageReply> {
  const fitted = await fitFor(call, attempt);
  const reply = await collectImages(fitted, batchFor(call, gateway, attempt));
  const results = reply.results.map((result) => redacted(result, attempt.target.provider));
  return allOf(attempt, { ...reply, results });
}

/** Records the complete result of an attempt. */
function allOf(attempt: ImageAttempt, reply: ImageReply): ImageReply {
  attempt.made = { reply, whole: true };
  return reply;
}

/** Removes the provider's secrets from its reason for not making an image (S10). */
function redacted(result: ImageResult, provider: Provider): ImageResult {
  if (result.kind === "filtered") return { ...result, reason: provider.redact(result.reason) };
  return result.kind === "failed" ? { ...result, error: provider.redactError(result.error) } : result;
}

/** What one offer needs in addition to the call. */
export function batchFor(call: ImageRelay, gateway: Gateway, attempt: ImageAttempt): ImageBatch {
  const { target } = attempt;
  return {
    clock: gateway.clock,
    send: gateway.send,
    streamMedia: gateway.streamMedia,
    provider: target.provider,
    adapter: target.adapter,
    upstreamModel: target.offer.upstreamModel,
    jobName: call.receiptId,
    signal: attempt.signal,
    traceLines: traceLines(call, attempt, gateway),
    capture: () => firstRequestCapture(call, attempt),
    begin: (images) => attempt.begin(images),
    pollFactor: gateway.timings.mediaPollFactor,
    asked: call.request.call,
    note: ({ field, action, reason }) => attempt.notes.push({ path: call.request.paths[field], action, reason }),
  };
}

/** The same, with a blocked prompt as a response in which every image counts as blocked. */
export async function imagesOrReasons(call: ImageRelay, gateway: Gateway, attempt: ImageAttempt): Promise<ImageReply> {
  try {
    return await imagesOf(call, gateway, attempt);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.kind !== "content_blocked") throw thrown;
    const reason = attempt.target.provider.redact(thrown.message);
    const { count } = call.request.call;
    return allOf(attempt, { results: Array.from({ length: count }, () => ({ kind: "filtered", reason })) });
  }
}

/** The call as the target's model accepts it. Throws if the model cannot generate these images. */
export const fitImage = ({ call }: Pick<ImageRequest, "call">, { adapter, offer, model }: ImageTarget) =>
  fitImageCall(call, adapter.capabilities(offer.upstreamModel), model.id);

/** The call as this offer's model accepts it. Fields that it cannot honour are noted, or rejected in strict mode (H09). */
export async function fitFor(call: ImageRelay, attempt: ImageAttempt): Promise<FittedImageCall> {
  const { request } = call;
  const { adapter, offer, provider } = attempt.target;
  const capabilities = adapter.capabilities(offer.upstreamModel);
  const { call: fitted, notes } = fitImage(request, attempt.target);
  const fitNotes = notes.map(
    ({ field, action, reason }): FieldNote => ({ path: request.paths[field], action, reason }),
  );
  const context = mediaOf(provider).context(offer.upstreamModel, call.receiptId);
  const unread = unreadExtras(fitted, (watched) => adapter.submit(watched, context));
  refuseUnreadInputs(unread, call.model.id);
  if (request.partialImages > 0 && !showsPartials(fitted, adapter, offer.upstreamModel)) {
    fitNotes.push({ path: "partial_images", action: "dropped", reason: NO_PARTIALS });
  }
  attempt.notes = boundNotes([...request.notes, ...fitNotes, ...unread]);
  attempt.sent = asSent(fitted);
  if (call.incoming.strict || call.principal.strict) refuseNotes(attempt.notes);
  if (fitted.mask === undefined || capabilities.maskForm !== "white") return fitted;
  return { ...fitted, mask: await whiteMask(fitted.mask) };
}

/** The call with the size that is sent to the model instead of the client's. Prices and responses follow it. */
function asSent({ pixels, ...call }: FittedImageCall): ImageCall {
  return pixels === undefined ? call : { ...call, size: pixels };
}

/** The parts of a call that describe what was sent. */
export interface SentCall extends Pick<ImageRelay, "request"> {
  attempt: Pick<ImageAttempt, "sent"> | undefined;
}

/** The request as sent to the offer that answers. A response must not claim a setting that the model never received (contract 2.14). */
export function requestSent({ request, attempt }: SentCall): ImageRequest {
  return attempt?.sent === undefined ? request : { ...request, call: attempt.sent };
}

/** Inputs that the image depends on: without one, the result would not be what was requested. */
const INPUTS = ["referenceImages", "mask"];

function refuseUnreadInputs(unread: readonly FieldNote[], model: string): void {
  const input = unread.find(({ path }) => INPUTS.includes(lastName(path)));
  if (input === undefined) return;
  const kinds = "Send images as REFERENCE_TYPE_RAW, and a mask as REFERENCE_TYPE_MASK with MASK_MODE_USER_PROVIDED.";
  const problem = `${model} does not accept this kind of input. ${kinds}`;
  throw new GatewayError("invalid_request", problem, { path: input.path });
}

const lastName = (path: string): string => (path.split(".").at(-1) ?? "").replace(/\[\d+\]$/, "");

const NO_PARTIALS = "this model does not stream partial images";

/** A stream is not enough: some hosts stream only finished images. */
const showsPartials = (call: FittedImageCall, adapter: ImageAdapter, model: string): boolean =>
  adapter.capabilities(model).partialImages === true && streamFor(call, adapter, model) !== undefined;
