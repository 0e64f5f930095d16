import { createHash } from "node:crypto";
import type { Principal } from "../../access/principal.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { JsonObject } from "../../canon/json.ts";
import type { Operation, OperationPart } from "../../canon/operation.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { RECEIPT_PREFIX } from "../../canon/timed-id.ts";
import { pricingsOfFilm } from "../../catalogue/film-prices.ts";
import type { Model } from "../../catalogue/model.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { checkFrames } from "../../media/check-pictures.ts";
import { fitVideoCall, type VideoField } from "../../media/fit-video-call.ts";
import type { VideoWire } from "../../media/media-wire.ts";
import { decodeVideo, type VideoRequest } from "../../media/operations/decode-video.ts";
import { operationName } from "../../media/operations/operation-name.ts";
import type { FittedVideoCall, VideoAbilities } from "../../media/video-call.ts";
import type { Operations } from "../../operations/operations.ts";
import type { Provider } from "../../providers/provider.ts";
import { answerHeaders } from "../answer-headers.ts";
import { ClientPresence } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { identifiedResponse } from "../identity-headers.ts";
import { makeId, makeTimedId } from "../ids.ts";
import { readBody } from "../read-body.ts";
import { RelayError } from "../relay-error.ts";
import { exchangeMedia, isSuccess, mediaOf, UncertainError } from "./exchange.ts";
import { fetchInput } from "./fetch-input.ts";
import { type MediaOffer, planVideos } from "./plan.ts";
import { tryMediaOffers } from "./try-offers.ts";
import { unreadExtras } from "./unread-extras.ts";

/** A submit as the server hands it over. */
export interface IncomingVideo {
  request: Request;
  requestId: string;
  credential: string | undefined;
  dialect: Dialect;
  strict: boolean;
  modelInAddress: string;
}

/** Given up after this long, whatever the provider says. */
const DEADLINE_MS = 3 * 3_600_000;
const IDEMPOTENCY_MS = 24 * 3_600_000;
/** A client that never heard the name of its operation and asks the same again within this time gets that operation. */
const REPETITION_MS = 600_000;

/** Contract 2.1: submits a job for videos. The operation is a row before the provider hears of it. */
export async function submitVideo(
  incoming: IncomingVideo,
  gateway: Gateway,
  operations: Operations,
): Promise<Response> {
  const startedAtMs = gateway.nowMs();
  const { catalogue, providers, maxBodyBytes } = gateway.snapshot;
  const client = new ClientPresence(incoming.request.signal);
  const principal = gateway.keys.authenticate(incoming.credential ?? "");
  const { body, text } = await readBody(incoming.request, maxBodyBytes, gateway);
  const { model, offers } = catalogue.resolve(incoming.modelInAddress);
  const decoded = decodeVideo(body);
  const plan = planVideos(model, offers, providers);
  const asked = await withFrames(decoded, gateway, incoming.request.signal);
  const requestDigest = digestOf(principal.project, model.id, text);
  const repeated = await findRepeated(incoming, principal, requestDigest, operations, startedAtMs);
  if (repeated) return named(repeated, incoming, {}, []);

  const [first] = plan;
  if (first === undefined) throw new Error("a plan has at least one offer");
  const estimate = fitFor(asked, first, model).call;
  const admission = gateway.admissions.admit(principal, {
    model: model.id,
    dialect: incoming.dialect.name,
    estimatedCostNanoUsd: costOf(estimate, model.pricings),
    estimatedTokens: 0,
  });
  const operation = newOperation(principal, model, first, estimate, requestDigest, startedAtMs);
  const key = idempotencyKey(incoming);
  if (key !== undefined) operation.idempotencyKey = key;
  gateway.runningCalls++;
  const call = { operation, asked, incoming, principal, client: { gone: false, left: new Promise<void>(() => {}) } };
  try {
    // A client that leaves does not call the job off: it may come back for it.
    await operations.begin(operation, client, async (save) => {
      const trying = { offersTried: operation.job.offers, client: call.client };
      await tryMediaOffers(
        trying,
        gateway,
        plan,
        (planned) => submitAt(planned, call, gateway, model, save),
        isCertain,
      );
    });
  } catch (thrown) {
    const error = asGatewayError(thrown);
    throw new RelayError(inClientWords(error, asked), operation.receiptId);
  } finally {
    gateway.runningCalls--;
    admission.release({ costNanoUsd: 0, tokens: 0 });
    if (operation.state === "running") operations.reserve(operation, costOf(operation.job, model.pricings));
  }
  return named(operation, incoming, admission.rateHeaders, operation.job.notes);
}

/** Frames that were given by their address are fetched under the rules for such (S12); then all of them are looked at. */
async function withFrames(asked: VideoRequest, gateway: Gateway, signal: AbortSignal): Promise<VideoRequest> {
  const call = { ...asked.call };
  for (const { field, url } of asked.links) {
    call[field] = await fetchInput({ url, path: asked.paths[field] }, gateway, signal);
  }
  return checkFrames({ ...asked, call, links: [] });
}

interface Submitting {
  operation: Operation;
  asked: VideoRequest;
  incoming: IncomingVideo;
  principal: Principal;
}

/** All parts at one offer. A part that was taken is kept at once; what fails after that ends the part, not the operation. */
async function submitAt(
  planned: MediaOffer<VideoWire>,
  { operation, asked, incoming, principal }: Submitting,
  gateway: Gateway,
  model: Model,
  save: () => Promise<void>,
): Promise<void> {
  const { provider, wire, offer } = planned;
  const { call, notes } = fitFor(asked, planned, model);
  refuseIfStrict(incoming.strict || principal.strict === true, notes, model.id);
  const { perJob } = wire.abilities(offer.upstreamModel);
  const { seconds, resolution, audio, count } = call;
  Object.assign(operation, { provider: provider.name, credential: mediaOf(provider).credential });
  Object.assign(operation.job, {
    upstreamModel: offer.upstreamModel,
    pricings: offer.pricings,
    notes,
    seconds,
    resolution,
    audio,
    count,
  });
  operation.parts = partsOf(count, perJob);
  for (const part of operation.parts) part.state = "asking";
  await save();
  const outcomes = await Promise.allSettled(
    operation.parts.map((part, index) => submitPart(part, index, call, planned, operation, gateway, save)),
  );
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
  if (failures.length < operation.parts.length) return;
  throw failures.find((failure) => failure instanceof UncertainError) ?? failures[0];
}

async function submitPart(
  part: OperationPart,
  index: number,
  call: FittedVideoCall,
  { provider, wire, offer }: MediaOffer<VideoWire>,
  operation: Operation,
  gateway: Gateway,
  save: () => Promise<void>,
): Promise<void> {
  const share = { ...call, count: part.count, ...(call.seed === undefined ? {} : { seed: call.seed + index }) };
  const context = mediaOf(provider).context(offer.upstreamModel, `${operation.id}-${index + 1}`);
  try {
    const request = wire.submit(share, context);
    const patience = { signal: new AbortController().signal, timeoutMs: provider.timeoutMs.firstByte };
    const answer = await exchangeMedia(provider, request, patience);
    if (!isSuccess(answer)) throw wire.error(answer);
    const state = readTaken(() => wire.readSubmit(answer, share, context));
    if (state.state === "failed") throw state.error;
    if (state.state === "done") throw new Error("a video's job is done before it was asked about");
    part.state = "waiting";
    part.ticket = state.ticket;
    part.dueAtMs = gateway.nowMs() + (state.afterMs ?? wire.pollEveryMs ?? 10_000) * gateway.timings.mediaPaceFactor;
  } catch (thrown) {
    const error = asGatewayError(thrown);
    part.state = "failed";
    part.error = { kind: error.kind, message: provider.redact(error.message) };
    throw thrown;
  } finally {
    await save();
  }
}

/** A success that cannot be read may have been one. */
function readTaken<State>(read: () => State): State {
  try {
    return read();
  } catch (thrown) {
    const error = asGatewayError(thrown);
    throw error.kind === "upstream_failed" ? new UncertainError(error.kind, error.message, { cause: thrown }) : error;
  }
}

/** Asked again only where it is certain that the provider did not take the job: else there might be two. */
const isCertain = (error: GatewayError): boolean => !(error instanceof UncertainError);

function partsOf(count: number, perJob: number): OperationPart[] {
  const parts: OperationPart[] = [];
  for (let left = count; left > 0; left -= perJob) {
    parts.push({ state: "new", count: Math.min(left, perJob), dueAtMs: 0, failures: 0, videos: [], filtered: [] });
  }
  return parts;
}

function fitFor(asked: VideoRequest, { wire, offer, provider }: MediaOffer<VideoWire>, model: Model) {
  const { call, notes } = fitInClientWords(asked, wire.abilities(offer.upstreamModel), model.id);
  const told = notes.map(({ field, action, reason }): FieldNote => ({ path: asked.paths[field], action, reason }));
  const context = mediaOf(provider).context(offer.upstreamModel, "");
  const unread = unreadExtras(call, (watched) => wire.submit({ ...watched, count: 1 }, context));
  return { call, notes: [...asked.notes, ...told, ...unread] };
}

function fitInClientWords(asked: VideoRequest, abilities: VideoAbilities, model: string) {
  try {
    return fitVideoCall(asked.call, abilities, model);
  } catch (thrown) {
    throw inClientWords(asGatewayError(thrown), asked);
  }
}

function refuseIfStrict(strict: boolean, notes: readonly FieldNote[], model: string): void {
  const [first] = notes;
  if (!strict || first === undefined) return;
  const list = notes.map(({ path, reason }) => `${path} (${reason})`).join("; ");
  const message = `This call is strict, and ${model} cannot honour all of it: ${list}.`;
  throw new GatewayError("unsupported_parameter", message, { path: first.path });
}

type FilmFacts = Pick<FittedVideoCall, "count" | "seconds" | "resolution" | "audio">;

const costOf = ({ count, seconds, resolution, audio }: FilmFacts, pricings: Model["pricings"]): number =>
  priceUsage({ seconds: seconds * count }, pricingsOfFilm(pricings, { resolution, audio })).costNanoUsd;

function newOperation(
  principal: Principal,
  model: Model,
  { provider, offer }: { provider: Provider; offer: MediaOffer<VideoWire>["offer"] },
  { seconds, resolution, audio, count }: FittedVideoCall,
  requestDigest: string,
  nowMs: number,
): Operation {
  const createdAtMs = Math.round(nowMs);
  return {
    id: makeId(),
    project: principal.project,
    keyId: principal.keyId,
    receiptId: RECEIPT_PREFIX + makeTimedId(createdAtMs),
    model: model.id,
    provider: provider.name,
    credential: mediaOf(provider).credential,
    state: "submitting",
    job: {
      upstreamModel: offer.upstreamModel,
      count,
      seconds,
      resolution,
      audio,
      pricings: offer.pricings as JsonObject,
      notes: [],
      offers: [],
    },
    parts: [],
    requestDigest,
    claimed: false,
    createdAtMs,
    deadlineAtMs: createdAtMs + DEADLINE_MS,
    dueAtMs: createdAtMs,
  };
}

const digestOf = (...texts: string[]): string => createHash("sha256").update(texts.join("\n")).digest("hex");

const idempotencyKey = ({ request }: IncomingVideo): string | undefined => {
  const key = request.headers.get("idempotency-key");
  return key ? digestOf(key) : undefined;
};

/** The operation that this request made already (decisions §5: Idempotency). */
async function findRepeated(
  incoming: IncomingVideo,
  principal: Principal,
  requestDigest: string,
  operations: Operations,
  nowMs: number,
): Promise<Operation | undefined> {
  const key = idempotencyKey(incoming);
  if (key === undefined) return operations.claimUnheard(principal.keyId, requestDigest, nowMs - REPETITION_MS);
  const found = await operations.findByKey(principal.project, key, nowMs - IDEMPOTENCY_MS);
  if (found && found.requestDigest !== requestDigest) {
    const message = "This Idempotency-Key was used with another body. Use a new key for a new request.";
    throw new GatewayError("invalid_request", message, { path: "Idempotency-Key", code: "idempotency_key_reused" });
  }
  return found;
}

function named(
  operation: Operation,
  incoming: IncomingVideo,
  rateHeaders: Readonly<Record<string, string>>,
  notes: FieldNote[],
): Response {
  const call = { incoming, receiptId: operation.receiptId, admission: { rateHeaders, release: () => {} }, notes };
  const body = JSON.stringify({ name: operationName(operation.model, operation.id) });
  return identifiedResponse(body, answerHeaders(call, "application/json"));
}

function inClientWords(error: GatewayError, { paths }: VideoRequest): GatewayError {
  const path =
    error.path === undefined ? undefined : (paths as Partial<Record<string, string>>)[error.path as VideoField];
  return path === undefined ? error : error.withPath(path);
}
