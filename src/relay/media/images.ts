import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { JsonObject } from "../../canon/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { RECEIPT_PREFIX } from "../../canon/timed-id.ts";
import type { Usage } from "../../canon/usage.ts";
import { pricingsOfPicture } from "../../catalogue/picture-prices.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { checkPictures } from "../../media/check-pictures.ts";
import { fitImageCall, type ImageField } from "../../media/fit-image-call.ts";
import type { FittedImageCall, ImageCall } from "../../media/image-call.ts";
import type { ImageReply } from "../../media/image-reply.ts";
import { type ImageRequest, withFetched } from "../../media/image-request.ts";
import { tierOf } from "../../media/image-size.ts";
import type { ImageWire } from "../../media/media-wire.ts";
import type { ImageTier } from "../../media/picture.ts";
import { whiteMask } from "../../media/picture-mask.ts";
import { answerHeaders } from "../answer-headers.ts";
import { ClientGoneError, ClientPresence } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { identifiedResponse } from "../identity-headers.ts";
import { makeTimedId } from "../ids.ts";
import { RelayError } from "../relay-error.ts";
import { type AdmittedCall, closeCall } from "../settle.ts";
import { mediaOf } from "./exchange.ts";
import { fetchInput } from "./fetch-input.ts";
import { gatherImages } from "./gather-images.ts";
import { streamImages } from "./image-stream.ts";
import { jsonBody } from "./json-body.ts";
import { type MediaOffer, planImages } from "./plan.ts";
import { tryMediaOffers } from "./try-offers.ts";
import { unreadExtras } from "./unread-extras.ts";

/** A request for pictures as the server hands it over: the body not yet read. */
export interface IncomingImages {
  request: Request;
  requestId: string;
  credential: string | undefined;
  dialect: Dialect;
  strict: boolean;
  /** genai: the address names the model; elsewhere the body does. */
  modelInAddress?: string;
  protocol: ImageProtocol;
}

/** One of the client's ways to ask for pictures, and to be answered. */
export interface ImageProtocol {
  /** Reads and checks the body. */
  read(request: Request, gateway: Gateway): Promise<{ model?: string; request: ImageRequest }>;
  /** A prompt that moderation refuses is told inside the answer, picture by picture (contract §7), and not as an error. */
  blockedInBand?: true;
  encode(reply: ImageReply, call: ImageAnswering, gateway: Gateway): Promise<JsonObject>;
}

export interface ImageAnswering {
  request: ImageRequest;
  project: string;
  receiptId: string;
  nowMs: number;
}

/** One call for pictures on its way. */
export interface ImageRelay extends AdmittedCall {
  incoming: Pick<IncomingImages, "request" | "requestId" | "dialect" | "strict">;
  request: ImageRequest;
  client: ClientPresence;
  /** Ends everything that was begun for the call. */
  signal: AbortSignal;
}

/** The life of a call for pictures: the same as that of any other call, with calls to media APIs in its middle. */
export async function relayImages(incoming: IncomingImages, gateway: Gateway): Promise<Response> {
  const startedAtMs = gateway.nowMs();
  const client = new ClientPresence(incoming.request.signal);
  const principal = gateway.keys.authenticate(incoming.credential ?? "");
  const { model: named, request: read } = await incoming.protocol.read(incoming.request, gateway);
  const { catalogue, providers } = gateway.snapshot;
  const { model, offers } = catalogue.resolve(incoming.modelInAddress ?? named ?? "");
  const plan = planImages(model, offers, providers);
  const request = await withPictures(read, gateway, incoming.request.signal);
  const estimate = priceUsage(
    { images: request.call.count },
    pricingsOfPicture(model.pricings, resolutionOf(request.call)),
  );
  const admission = gateway.admissions.admit(principal, {
    model: model.id,
    dialect: incoming.dialect.name,
    estimatedCostNanoUsd: estimate.costNanoUsd,
    estimatedTokens: 0,
  });
  gateway.runningCalls++;
  const call = {
    incoming,
    request,
    client,
    signal: incoming.request.signal,
    receiptId: RECEIPT_PREFIX + makeTimedId(startedAtMs),
    principal,
    admission,
    model,
    stream: request.stream,
    startedAtMs,
    offersTried: [],
    notes: [...request.notes],
  };
  try {
    return request.stream ? await streamImages(call, gateway, plan) : await wholeImages(call, gateway, plan);
  } catch (thrown) {
    const error = asGatewayError(client.gone ? new ClientGoneError() : thrown);
    await settleImages(call, gateway, { outcome: client.gone ? "client_gone" : error.kind, planned: undefined });
    throw new RelayError(inClientWords(error, request), call.receiptId);
  }
}

/** No model takes more, and each is held in memory. */
const MAX_LINKS = 20;

/** Inputs that were given by their address are fetched under the rules for such (S12); then all of them are looked at. */
export async function withPictures(
  request: ImageRequest,
  gateway: Gateway,
  signal: AbortSignal,
): Promise<ImageRequest> {
  const { links, inputPaths, paths } = request;
  const named = links.map(({ url, place }) => ({
    url,
    path: place === "mask" ? paths.mask : (inputPaths[place] ?? paths.inputs),
  }));
  if (named.length > MAX_LINKS) {
    const message = `${named.length} pictures are given by their address; at most ${MAX_LINKS} are fetched for one call.`;
    throw new GatewayError("invalid_request", message, { path: paths.inputs });
  }
  const pictures = await Promise.all(named.map((one) => fetchInput(one, gateway, signal)));
  return checkPictures(withFetched(request, pictures));
}

async function wholeImages(
  call: ImageRelay & { incoming: IncomingImages },
  gateway: Gateway,
  plan: readonly MediaOffer<ImageWire>[],
): Promise<Response> {
  const { incoming, request, client } = call;
  const { result: reply, planned } = await tryMediaOffers(call, gateway, plan, (planned) =>
    incoming.protocol.blockedInBand ? imagesOrReasons(call, gateway, planned) : imagesOf(call, gateway, planned),
  );
  const answering = { request, project: call.principal.project, receiptId: call.receiptId, nowMs: gateway.nowMs() };
  const answer = await incoming.protocol.encode(reply, answering, gateway);
  await settleImages(call, gateway, { outcome: "ok", planned, reply });
  return identifiedResponse(jsonBody(answer, client, gateway.timings), answerHeaders(call, "application/json"));
}

/** All pictures at one offer. Throws where there is none to show: not even one that was held back. */
export async function imagesOf(
  call: ImageRelay,
  gateway: Gateway,
  planned: MediaOffer<ImageWire>,
): Promise<ImageReply> {
  const fitted = await fitFor(call, planned);
  return gatherImages(fitted, {
    provider: planned.provider,
    wire: planned.wire,
    upstreamModel: planned.offer.upstreamModel,
    jobName: call.receiptId,
    signal: call.signal,
    paceFactor: gateway.timings.mediaPaceFactor,
    asked: call.request.call,
  });
}

/** The same, where a refused prompt is an answer too: every picture was held back. */
export async function imagesOrReasons(
  call: ImageRelay,
  gateway: Gateway,
  planned: MediaOffer<ImageWire>,
): Promise<ImageReply> {
  try {
    return await imagesOf(call, gateway, planned);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.kind !== "content_blocked") throw thrown;
    const reason = planned.provider.redact(thrown.message);
    return { results: Array.from({ length: call.request.call.count }, () => ({ kind: "filtered", reason })) };
  }
}

/** The call as this offer's model takes it; what it cannot honour is noted, or refused where the call is strict (H09). */
export async function fitFor(
  call: ImageRelay,
  { wire, offer, provider }: MediaOffer<ImageWire>,
): Promise<FittedImageCall> {
  const { request } = call;
  const abilities = wire.abilities(offer.upstreamModel);
  const { call: fitted, notes } = fitImageCall(request.call, abilities, call.model.id);
  const told = notes.map(({ field, action, reason }): FieldNote => ({ path: request.paths[field], action, reason }));
  const context = mediaOf(provider).context(offer.upstreamModel, call.receiptId);
  call.notes = [...request.notes, ...told, ...unreadExtras(fitted, (watched) => wire.submit(watched, context))];
  const [first] = call.notes;
  if (first && (call.incoming.strict || call.principal.strict)) {
    const list = call.notes.map(({ path, reason }) => `${path} (${reason})`).join("; ");
    const message = `This call is strict, and ${call.model.id} cannot honour all of it: ${list}.`;
    throw new GatewayError("unsupported_parameter", message, { path: first.path });
  }
  if (fitted.mask === undefined || abilities.maskForm !== "white") return fitted;
  return { ...fitted, mask: await whiteMask(fitted.mask) };
}

/** What the price may depend on. */
function resolutionOf({ tier, size }: ImageCall): { resolution?: ImageTier } {
  const resolution = tier ?? tierOf(size);
  return resolution === undefined ? {} : { resolution };
}

export interface ImagesEnding {
  outcome: string;
  planned: MediaOffer<ImageWire> | undefined;
  reply?: Pick<ImageReply, "results" | "usage">;
}

/** Pictures that were made are billed, those held back or failed are not. */
export function settleImages(
  call: ImageRelay,
  gateway: Gateway,
  { outcome, planned, reply }: ImagesEnding,
): Promise<void> {
  const made = reply?.results.filter((result) => result.kind === "made").length ?? 0;
  const usage: Usage = made === 0 && reply?.usage === undefined ? {} : { ...reply?.usage, images: made };
  const pricings = planned?.offer.pricings ?? call.model.pricings;
  return closeCall(call, gateway, {
    verb: "images",
    clientDialect: call.incoming.dialect.name,
    upstreamDialect: "media",
    lane: "translated",
    outcome,
    offer: planned?.offer,
    usage,
    source: outcome === "ok" ? "measured" : "partial",
    pricings: pricingsOfPicture(pricings, resolutionOf(call.request.call)),
    firstContentAtMs: reply === undefined ? undefined : gateway.nowMs(),
  });
}

/**
 * The path of a canonical field is told by its name in the client's request. Each host has a code of its own for what its
 * moderation holds back; clients are told the protocol's.
 */
export function inClientWords(error: GatewayError, { paths }: Pick<ImageRequest, "paths">): GatewayError {
  const known =
    error.path === undefined ? undefined : (paths as Partial<Record<string, string>>)[error.path as ImageField];
  const path = known ?? error.path;
  if (error.kind === "content_blocked") {
    return new GatewayError(error.kind, error.message, path === undefined ? {} : { path });
  }
  return path === undefined ? error : error.withPath(path);
}
