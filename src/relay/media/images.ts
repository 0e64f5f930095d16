import { readRouting } from "../../dialects/read-routing.ts";
import { admitCall, type EnteredRequest } from "../admit-call.ts";
import { answerHeaders } from "../answer-headers.ts";
import { askedRouting, notesOnMedia } from "../asked-routing.ts";
import { captureOf } from "../capture-call.ts";
import { mostAfterDiscount } from "../discount.ts";
import type { Gateway } from "../gateway.ts";
import { identifiedResponse } from "../identity-headers.ts";
import { planMedia } from "../plan-call.ts";
import { requireOwnObjects } from "../require-own-objects.ts";
import { tellBegun } from "../tell-call.ts";
import { answerImages } from "./answer-images.ts";
import { expectedImageCost } from "./expected-image-cost.ts";
import type { ImageRelay } from "./image-attempt.ts";
import { resolutionOf } from "./image-bill.ts";
import { withImages } from "./image-inputs.ts";
import type { IncomingImages } from "./image-relay.ts";
import { streamImages } from "./image-stream.ts";
import { jsonBody } from "./json-body.ts";
import { imageOffersThatFit, requestSent } from "./make-at-offer.ts";

/** Serves a call for images: like any other call, with calls to media APIs in the middle. */
export async function relayImages(incoming: IncomingImages, gateway: Gateway): Promise<Response> {
  const { admitted, asked } = await admitCall(
    incoming,
    gateway,
    (entered) => readImages(incoming, entered, gateway),
    ({ model, request: { stream } }) => ({ verb: "images", model, stream }),
  );
  const { model, request, plan } = asked;
  const capture = asked.sent === undefined ? undefined : captureOf(asked.sent, incoming, gateway);
  const call: ImageRelay = {
    ...admitted,
    incoming,
    model,
    request,
    stream: request.stream,
    plan: plan.explained,
    capture,
  };
  if (gateway.events.watched) tellBegun(call, gateway);
  if (request.stream) return await streamImages(call, gateway, plan.targets);
  const { blockedInBand = false, encode } = incoming.protocol;
  const { receiptId, principal } = call;
  const answer = await answerImages(call, gateway, plan.targets, {
    blockedInBand,
    encode: (reply) => {
      const nowMs = gateway.clock.nowMs();
      const answering = { request: requestSent(call), project: principal.project, receiptId, nowMs };
      return encode(reply, answering, gateway);
    },
  });
  return identifiedResponse(jsonBody(answer, call, gateway), answerHeaders(call, "application/json"));
}

/** The request, resolved and admitted, and the targets that can serve it. */
async function readImages(
  incoming: IncomingImages,
  { principal, entry, memory, timer }: EnteredRequest,
  gateway: Gateway,
) {
  timer.to("client");
  const {
    model: named,
    request: read,
    body,
    fields = body,
    sent,
  } = await incoming.protocol.read(incoming.request, memory, gateway);
  timer.to("gateway");
  await requireOwnObjects(fields, incoming.dialect.requests.objects, principal, gateway);
  const wanted = readRouting(body, incoming.request.headers);
  const { catalogue, targets } = gateway.snapshot;
  const { model, offers, notes } = catalogue.resolve(incoming.modelInPath ?? named ?? "", incoming.naming);
  const offered = targets.images(model, offers);
  const resolved = await withImages(read, gateway, incoming.request.signal);
  const more = [...notes, ...notesOnMedia(wanted, true)];
  const request = more.length === 0 ? resolved : { ...resolved, notes: [...more, ...resolved.notes] };
  const routing = askedRouting(wanted, { incoming, principal, model }, gateway);
  const plan = planMedia({ model, routing }, gateway, imageOffersThatFit(request, offered, model));
  const { count, quality } = request.call;
  const expected = expectedImageCost(count, { quality, ...resolutionOf(request.call) }, offers);
  const admission = await entry.admitShared({
    model: model.id,
    dialect: incoming.dialect.name,
    estimatedCostNanoUsd: mostAfterDiscount(expected, principal, { model, offers }),
    estimatedTokens: 0,
  });
  // The text of a large body is not held but where it is kept.
  return { admission, model, plan, request, routing, sent: principal.capture === true ? sent() : undefined };
}
