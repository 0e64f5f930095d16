import { asGatewayError } from "../../canon/error.ts";
import type { Operation } from "../../canon/operation.ts";
import { unionOfTags } from "../../canon/tags.ts";
import type { CallCapture } from "../../capture/call-capture.ts";
import { readRouting } from "../../dialects/read-routing.ts";
import { checkFrames } from "../../media/check-images.ts";
import { decodeVideo, type VideoRequest } from "../../media/predict-long-running/decode-video.ts";
import { operationName } from "../../media/predict-long-running/operation-name.ts";
import type { Operations } from "../../operations/operations.ts";
import { answerHeaders, type NotedCall } from "../answer-headers.ts";
import { askedRouting, notesOnMedia } from "../asked-routing.ts";
import type { IncomingRequest } from "../call.ts";
import { captureOf, settleCapture } from "../capture-call.ts";
import { discountAt } from "../discount.ts";
import { type EnteredRequest, enterRequest, leaveRequest } from "../enter-request.ts";
import type { Gateway } from "../gateway.ts";
import { identifiedResponse } from "../identity-headers.ts";
import { planMedia } from "../plan-call.ts";
import { readBody } from "../read-body.ts";
import { RelayError } from "../relay-error.ts";
import { requireOwnObjects } from "../require-own-objects.ts";
import { plannedOffers } from "../settle.ts";
import { tellOperation } from "../tell-call.ts";
import { tryOffers } from "../try-offers.ts";
import type { Trying } from "../trying.ts";
import { inClientWords } from "./client-words.ts";
import { fetchInput } from "./fetch-input.ts";
import { costOfVideos, fitVideo } from "./fit-video.ts";
import { newOperation } from "./new-operation.ts";
import { offersThatFit } from "./offers-that-fit.ts";
import { digestOf, findRepeated, idempotencyKey } from "./repeated-operation.ts";
import { expectedVideoBytes, requireFileSpace } from "./require-file-space.ts";
import { SubmitAttempt } from "./submit-attempt.ts";
import { isCertain, submitAt } from "./submit-videos.ts";
import { keptTrace } from "./trace-operation.ts";

/** A submit request as the server hands it over. */
interface IncomingVideo extends IncomingRequest {
  modelInPath: string;
}

/** Contract 2.1: submits a job for videos. The operation is saved before the provider gets a request. */
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
  { startedAtMs, principal, client, entry, memory }: EnteredRequest,
  gateway: Gateway,
  operations: Operations,
): Promise<Response> {
  const { catalogue, targets, maxBodyBytes } = gateway.snapshot;
  const { body, text } = await readBody(incoming.request, { maxBytes: maxBodyBytes, memory }, gateway);
  const { model, offers, notes } = catalogue.resolve(incoming.modelInPath, incoming.naming);
  const requestDigest = digestOf(principal.project, model.id, text);
  // First of all, because the rest may turn out differently the second time: links to frames expire, and offers change.
  const repeated = await findRepeated(incoming.request, principal, requestDigest, operations, gateway.clock.wallMs());
  if (repeated) return named(repeated, incoming, undefined);

  const decoded = decodeVideo(body);
  await requireOwnObjects(body, incoming.dialect.requests.objects, principal, gateway);
  const wanted = readRouting(body, incoming.request.headers);
  const routing = askedRouting(wanted, { incoming, principal, model }, gateway);
  const offered = targets.videos(model, offers);
  const framed = await withFrames(decoded, gateway, incoming.request.signal);
  const more = [...notes, ...notesOnMedia(wanted, false)];
  const asked = more.length === 0 ? framed : { ...framed, notes: [...more, ...framed.notes] };
  const able = offersThatFit(offered, (target) => fitVideo(asked, target, model));
  const plan = planMedia(
    { model, routing },
    gateway,
    able.map(({ target }) => target),
  );
  const fitting = plan.targets.flatMap((target) => able.filter((one) => one.target === target));
  const [first] = fitting;
  if (first === undefined) throw new Error("a plan has at least one offer");
  await requireFileSpace(gateway, principal.project, expectedVideoBytes(first.fitted.call));
  const admission = await entry.admitShared({
    model: model.id,
    dialect: incoming.dialect.name,
    // Whichever offer accepts it: the most expensive one must be within the budget (H23).
    estimatedCostNanoUsd: Math.max(
      ...fitting.map(({ target, fitted }) =>
        costOfVideos(fitted.call, target.offer.pricings, discountAt(principal, target)),
      ),
    ),
    estimatedTokens: 0,
  });
  const operation = newOperation(principal, model, first.target, first.fitted, requestDigest, {
    createdAtMs: admission.atMs,
    nowMs: startedAtMs,
    random: gateway.random,
  });
  if (plan.explained !== undefined) operation.job.plan = plannedOffers(plan.explained, model.id);
  const tags = unionOfTags(principal.tags, incoming.tags);
  if (tags !== undefined) operation.tags = tags;
  const key = idempotencyKey(incoming.request);
  if (key !== undefined) operation.idempotencyKey = key;
  const trace = gateway.tracing?.begin(incoming.request.headers);
  const keepTrace = () => {
    const { request, requestId: id, modelInPath } = incoming;
    operation.job.request = { id };
    if (trace !== undefined)
      operation.job.request.trace = keptTrace(trace, { request, modelInPath, startedAtMs }, gateway);
  };
  keepTrace();
  const capture = principal.capture === true ? captureOf(text, incoming, gateway) : undefined;
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
      const trying: Trying = {
        principal,
        offersTried: operation.job.offers,
        trace,
        routing: { maxAttempts: routing.maxAttempts, deadlineMs: undefined },
        attempt: undefined,
        client: { disconnected: false, disconnection: new Promise<void>(() => {}) },
      };
      await tryOffers(
        trying,
        gateway,
        fitting.map(({ target }) => target),
        (target) => new SubmitAttempt(target, gateway.clock.nowMs),
        (attempt) => {
          last = attempt;
          return submitAt(attempt, submitting, gateway, model, save);
        },
        isCertain,
      ).finally(keepTrace);
      const { request } = operation.job;
      if (request?.trace !== undefined) request.trace.answeredMs = gateway.clock.wallMs();
    });
  } catch (thrown) {
    // It was not saved, and has no receipt.
    if (!isBegun) throw thrown;
    const error = asGatewayError(thrown);
    const { receiptId, job } = operation;
    throw new RelayError(inClientWords(error, asked.paths), { receiptId, admission, attempt: job, capture });
  } finally {
    // Its row is written when the video is done, perhaps by another process; its bodies are known now.
    if (capture !== undefined && isBegun)
      settleCapture(capture, { receiptId: operation.receiptId, principal, admission, attempt: last }, gateway);
    else capture?.drop();
    gateway.runningCalls--;
    admission.release({ costNanoUsd: 0, tokens: 0 });
    if (operation.state === "running") {
      operations.reserve(operation);
      if (gateway.events.watched) tellOperation(operation, "running", gateway);
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
  const body = JSON.stringify({ name: operationName(operation.model, operation.id) });
  capture?.answered(body);
  return identifiedResponse(body, answerHeaders(call, "application/json"));
}
