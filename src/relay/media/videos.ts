import { sharingOf } from "../../access/principal.ts";
import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { asGatewayError } from "../../canon/error.ts";
import type { Operation } from "../../canon/operation.ts";
import { unionOfTags } from "../../canon/tags.ts";
import type { CallCapture } from "../../capture/call-capture.ts";
import { checkFrames } from "../../media/check-images.ts";
import type { VideoRequest } from "../../media/video-request.ts";
import type { Operations } from "../../operations/operations.ts";
import type { VideoTarget } from "../../routing/target.ts";
import { answerHeaders, type NotedCall } from "../answer/answer-headers.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import { RelayError } from "../answer/relay-error.ts";
import type { AttemptedCall } from "../attempt/attempted-call.ts";
import { tryOffers } from "../attempt/try-offers.ts";
import type { Gateway } from "../gateway.ts";
import { refuseAdmitted } from "../guard/refuse-admitted.ts";
import { adapterCall } from "../request/adapter-kind.ts";
import { type EnteredRequest, enterRequest, leaveRequest } from "../request/enter-request.ts";
import { readRequest } from "../request/read-request.ts";
import { captureOf, settleCapture } from "../settle/capture-call.ts";
import { plannedOffers } from "../settle/close-call.ts";
import { publishOperation } from "../settle/publish-events.ts";
import { inClientWords } from "./client-words.ts";
import { fetchInput } from "./fetch-input.ts";
import { costOfVideo, fitVideo } from "./fit-video.ts";
import { newOperation } from "./new-operation.ts";
import { digestOf, findRepeated, idempotencyKey } from "./repeated-operation.ts";
import { expectedVideoBytes } from "./require-file-space.ts";
import { SubmitAttempt } from "./submit-attempt.ts";
import { isCertain, submitAt } from "./submit-videos.ts";
import { keptTrace } from "./trace-operation.ts";
import type { IncomingVideo, ReadVideo } from "./video-relay.ts";

/** A request whose body was compared with those of earlier requests. */
interface ReceivedVideo extends IncomingVideo {
  received: ReadVideo;
  /** The request that was received, and how another in its place is read. */
  original: Request;
  readAgain(request: Request): Promise<ReadVideo>;
}

const VIDEOS = adapterCall<ReceivedVideo, VideoRequest, VideoTarget, ReturnType<typeof fitVideo>>({
  verb: "videos",
  waits: false,
  read: async ({ received, request: asked, original, readAgain }) => {
    const { decode, ...read } = asked === original ? received : await readAgain(asked);
    const request = decode();
    return { ...read, request, paths: request.paths };
  },
  targets: (targets, model, offers) => targets.videos(model, offers),
  prepare: async (read, notes, { request }, gateway) => {
    const framed = await withFrames(read, gateway, request.signal);
    return { ...framed, notes: [...notes, ...framed.notes] };
  },
  fit: (request, target) => fitVideo(request, target),
  fileBytes: ({ call }) => expectedVideoBytes(call),
  estimate:
    () =>
    ({ pricings }, { call }) => ({ costNanoUsd: costOfVideo(call, pricings), bills: call.count, tokens: 0 }),
});

/** Submits a job for videos, in any protocol (contract 2.1). The operation is saved before the provider gets a request. */
export async function submitVideo(
  incoming: IncomingVideo,
  gateway: Gateway,
  operations: Operations,
): Promise<Response> {
  const entered = await enterRequest(incoming, gateway);
  try {
    return await submit(incoming, entered, gateway, operations);
  } finally {
    leaveRequest(entered);
  }
}

async function submit(
  incoming: IncomingVideo,
  entered: EnteredRequest,
  gateway: Gateway,
  operations: Operations,
): Promise<Response> {
  const { startedAtMs, principal, client, timer, memory } = entered;
  const { catalogue } = gateway.snapshot;
  const received = await incoming.protocol.read(incoming, entered, gateway, operations);
  const { model } = catalogue.resolve(received.model, incoming.naming);
  const requestDigest = digestOf(principal.project, model.id, received.digested);
  // Before anything else, because the rest may turn out differently the second time: links to frames expire, and offers change.
  const repeated = await findRepeated(incoming.request, principal, requestDigest, operations, gateway.clock.wallMs());
  if (repeated) return named(repeated, incoming, undefined);

  const { request: original } = incoming;
  const readAgain = (request: Request) =>
    incoming.protocol.read({ ...incoming, request }, entered, gateway, operations);
  const read = await readRequest(VIDEOS, { ...incoming, received, original, readAgain }, entered, gateway);
  const { admission, routing, guards } = read;
  const trace = gateway.tracing?.begin(incoming.request.headers);
  let { fitted, sent } = read;
  if (read.check !== undefined) {
    const receiptId = RECEIPT_PREFIX + timePrefix(admission.atMs) + gateway.random.id();
    const known = {
      receiptId,
      incoming,
      principal,
      admission,
      model,
      startedAtMs,
      timer,
      memory,
      client,
      routing,
      trace,
    };
    const nothing = { stream: false, offersTried: [], attempt: undefined, plan: undefined, continued: undefined };
    const call = { ...known, ...nothing, guards, hedged: false, verb: "videos" } as const;
    gateway.runningCalls++;
    gateway.calls.add(call);
    const { refusal, ...checked } = await read.check(call);
    if (refusal !== undefined) throw await refuseAdmitted(call, "videos", refusal, gateway);
    gateway.calls.remove(client);
    gateway.runningCalls--;
    ({ fitted, sent } = checked);
  }
  const { request: asked, plan, fits } = fitted;
  const [first] = fits;
  if (first === undefined) throw new Error("a plan has at least one offer");
  const operation = newOperation(principal, model, first.target, first.fitted, requestDigest, {
    createdAtMs: admission.atMs,
    nowMs: startedAtMs,
    random: gateway.random,
  });
  if (guards !== undefined) operation.job.guards = guards.verdicts(undefined);
  operation.share = sharingOf(principal);
  const { source } = asked.call;
  Object.assign(
    operation.job,
    withoutAbsent({
      client: incoming.dialect.name,
      namedModel: received.namedModel === model.id ? undefined : received.namedModel,
      source: source && { id: source.id, kind: source.kind, seconds: source.seconds },
    }),
  );
  const tags = unionOfTags(principal.tags, incoming.tags);
  if (tags !== undefined) operation.tags = tags;
  if (admission.endUser !== undefined) operation.endUser = admission.endUser;
  const key = idempotencyKey(incoming.request);
  if (key !== undefined) operation.idempotencyKey = key;
  const keepTrace = () => {
    if (plan.explained !== undefined) operation.job.plan = plannedOffers(plan.explained, model.id, admission);
    const { request, requestId: id, modelInPath, videoInPath } = incoming;
    operation.job.request = { id };
    if (trace !== undefined)
      operation.job.request.trace = keptTrace(trace, { request, modelInPath, videoInPath, startedAtMs }, gateway);
  };
  keepTrace();
  const capture = sent === undefined ? undefined : captureOf(sent, incoming, gateway);
  let last: SubmitAttempt | undefined;
  let isBegun = false;
  gateway.runningCalls++;
  const submitting = {
    operation,
    asked,
    principal,
    trace,
    capture,
    strict: incoming.strict || principal.strict === true,
  };
  try {
    // A client that disconnects does not cancel the job: it may come back for it.
    await operations.begin(operation, client, async (save) => {
      isBegun = true;
      const trying: AttemptedCall = {
        principal,
        offersTried: operation.job.offers,
        trace,
        admission,
        routing: { maxAttempts: routing.maxAttempts, deadlineMs: undefined },
        attempt: undefined,
        client: { disconnected: false, disconnection: new Promise<void>(() => {}) },
      };
      await tryOffers(
        trying,
        gateway,
        plan.targets,
        (target) => new SubmitAttempt(target, gateway.clock.nowMs),
        (attempt) => {
          last = attempt;
          return submitAt(attempt, submitting, gateway, save);
        },
        isCertain,
      ).finally(keepTrace);
      const { request } = operation.job;
      if (request?.trace !== undefined) request.trace.answeredMs = gateway.clock.wallMs();
    });
  } catch (thrown) {
    // The operation was not saved and has no receipt.
    if (!isBegun) throw thrown;
    const error = asGatewayError(thrown);
    const { receiptId, job } = operation;
    throw new RelayError(inClientWords(error, asked.paths), { receiptId, admission, attempt: job, capture });
  } finally {
    // Its row is written when the video is done, perhaps by another process. Its bodies are known now.
    if (capture !== undefined && isBegun)
      settleCapture(capture, { receiptId: operation.receiptId, principal, admission, attempt: last }, gateway);
    else capture?.drop();
    gateway.runningCalls--;
    admission.release({ costNanoUsd: 0, tokens: 0 });
    if (operation.state === "running") {
      operations.reserve(operation);
      if (gateway.events.watched) publishOperation(operation, "running", gateway);
    }
  }
  return named(operation, incoming, admission, capture);
}

/** Fetches frames that were given by URL, under the rules for foreign URLs (S12), and checks all of them. */
async function withFrames(asked: VideoRequest, gateway: Gateway, signal: AbortSignal): Promise<VideoRequest> {
  const call = { ...asked.call };
  for (const { field, url } of asked.links) {
    call[field] = await fetchInput({ url, path: asked.paths[field] }, gateway, signal);
  }
  return checkFrames({ ...asked, call, links: [] });
}

function named(
  operation: Operation,
  incoming: IncomingVideo,
  admission: NotedCall["admission"],
  capture?: CallCapture,
): Response {
  const { receiptId, job } = operation;
  const call = {
    incoming,
    receiptId,
    admission,
    attempt: job,
  };
  const body = JSON.stringify(incoming.protocol.encode(operation));
  capture?.answered(body);
  return identifiedResponse(body, answerHeaders(call, "application/json"));
}
