import type { Principal } from "../../access/principal.ts";
import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import type { Operation, OperationPart } from "../../canon/operation.ts";
import type { AttemptCapture, CallCapture } from "../../capture/call-capture.ts";
import type { JobState } from "../../media/adapter.ts";
import { foldSeed } from "../../media/number-range.ts";
import { FieldRefusal } from "../../media/refuse-field.ts";
import type { FittedVideoCall } from "../../media/video-call.ts";
import type { VideoRequest } from "../../media/video-request.ts";
import type { VideoTarget } from "../../routing/target.ts";
import type { CallTrace } from "../../telemetry/trace-context.ts";
import { type ExchangeOptions, isSuccess, UncertainError } from "../attempt/provider-exchange.ts";
import { refuseNotes } from "../attempt/refuse-notes.ts";
import type { Gateway } from "../gateway.ts";
import { firstRequestCapture } from "../settle/capture-call.ts";
import { discountAt } from "../settle/discount.ts";
import { traceLines } from "../settle/trace-call.ts";
import { exchangeMedia, mediaOf } from "./exchange.ts";
import { fitVideo } from "./fit-video.ts";
import type { SubmitAttempt } from "./submit-attempt.ts";
import { DEFAULT_VIDEO_POLL_MS } from "./video-jobs.ts";

/** What is being submitted. */
export interface Submitting {
  operation: Operation;
  asked: VideoRequest;
  strict: boolean;
  principal: Principal;
  trace?: CallTrace | undefined;
  capture?: CallCapture | undefined;
}

/** Submits all parts to one offer. An accepted part is saved at once; a later failure ends that part, not the operation. */
export async function submitAt(
  attempt: Pick<SubmitAttempt, "target" | "capture">,
  { operation, asked, strict, principal, trace, capture }: Submitting,
  gateway: Gateway,
  save: () => Promise<void>,
): Promise<void> {
  const { target } = attempt;
  const { provider, adapter, offer } = target;
  const { call, notes, size } = fitVideo(asked, target);
  if (strict) refuseNotes(notes);
  const { perJob } = adapter.capabilities(offer.upstreamModel);
  const { seconds, resolution, audio, count } = call;
  const discount = discountAt(principal, target);
  Object.assign(operation, { provider: provider.name, credential: mediaOf(provider).credential });
  Object.assign(operation.job, {
    upstreamModel: offer.upstreamModel,
    pricings: offer.pricings,
    discount,
    notes,
    seconds,
    resolution,
    audio,
    count,
    size,
  });
  operation.parts = partsOf(count, perJob);
  for (const part of operation.parts) part.state = "asking";
  await save();
  const upstream: Upstream = {
    ...target,
    traceLines: traceLines({ trace }, attempt, gateway),
    capture: () => firstRequestCapture({ capture }, attempt),
  };
  const outcomes = await Promise.allSettled(
    operation.parts.map((part, index) => submitPart(part, index, call, upstream, operation, gateway, save)),
  );
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
  if (failures.length < operation.parts.length) return;
  throw failures.find((failure) => failure instanceof UncertainError) ?? failures[0];
}

type Upstream = VideoTarget & Pick<ExchangeOptions, "traceLines"> & { capture: () => AttemptCapture | undefined };

async function submitPart(
  part: OperationPart,
  index: number,
  call: FittedVideoCall,
  { provider, adapter, offer, traceLines, capture }: Upstream,
  operation: Operation,
  gateway: Gateway,
  save: () => Promise<void>,
): Promise<void> {
  const { seeds } = adapter.capabilities(offer.upstreamModel);
  const seed = call.seed === undefined ? {} : { seed: foldSeed(call.seed + index, seeds) };
  const share = { ...call, count: part.count, ...seed };
  const context = mediaOf(provider).context(offer.upstreamModel, `${operation.id}-${index + 1}`);
  try {
    const request = adapter.submit(share, context);
    const { signal } = new AbortController();
    const { clock, send } = gateway;
    const options = { clock, send, signal, timeoutMs: provider.timeoutMs.firstByte, traceLines, capture: capture() };
    const answer = await exchangeMedia(provider, request, options);
    if (!isSuccess(answer)) throw refusalOf(adapter.error(answer), call);
    const state = readTaken(() => adapter.readSubmit(answer, share, context));
    if (state.state === "failed") throw state.error;
    part.state = "waiting";
    part.providerJob = state.job;
    part.dueAtMs =
      gateway.clock.nowMs() +
      (state.afterMs ?? adapter.pollIntervalMs ?? DEFAULT_VIDEO_POLL_MS) * gateway.timings.mediaPollFactor;
  } catch (thrown) {
    const error = asGatewayError(thrown);
    part.state = "failed";
    part.error = { kind: error.kind, message: provider.redactError(error).message };
    if (!isCertain(error)) part.uncertain = true;
    throw thrown;
  } finally {
    // A storage failure does not undo the job. Everything is saved again when all parts are submitted (H29).
    await save().catch(() => {});
  }
}

/** The host's id of an earlier video is not shown to the client. */
function refusalOf(error: GatewayError, { source }: FittedVideoCall): GatewayError {
  if (source === undefined || error.kind !== "not_found") return error;
  const problem = "The provider no longer has this video. Create a new one with POST /v1/videos.";
  return new FieldRefusal("invalid_request", problem, { path: "source" });
}

/** A 2xx response that cannot be read may mean an accepted job. */
function readTaken<Reply>(read: () => JobState<Reply>): Exclude<JobState<Reply>, { state: "done" }> {
  try {
    const state = read();
    if (state.state === "done") throw new Error("a video job is done before it was polled");
    return state;
  } catch (thrown) {
    const error = asGatewayError(thrown);
    const isRefusal = error.kind !== "upstream_failed" && error.kind !== "internal";
    throw isRefusal ? error : new UncertainError(error.kind, error.message, { cause: thrown });
  }
}

/** A job is submitted again only if the provider certainly did not accept it. Otherwise there might be two. */
export const isCertain = (error: GatewayError): boolean => !(error instanceof UncertainError);

function partsOf(count: number, perJob: number): OperationPart[] {
  const parts: OperationPart[] = [];
  for (let left = count; left > 0; left -= perJob) {
    parts.push({ state: "new", count: Math.min(left, perJob), dueAtMs: 0, failures: 0, videos: [], filtered: [] });
  }
  return parts;
}
