import { asGatewayError } from "../../canon/error.ts";
import { readRouting } from "../../dialects/read-routing.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { admitCall, type EnteredRequest } from "../admit-call.ts";
import { answerHeaders } from "../answer-headers.ts";
import { askedRouting, notesOnMedia } from "../asked-routing.ts";
import { ClientDisconnectedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { identifiedResponse } from "../identity-headers.ts";
import { planMedia } from "../plan-call.ts";
import { RelayError } from "../relay-error.ts";
import { tryOffers } from "../try-offers.ts";
import { inClientWords } from "./client-words.ts";
import { expectedImageCost } from "./expected-image-cost.ts";
import { beginImages, imageOffersThatFit, imagesOf, imagesOrReasons, requestSent } from "./image-attempt.ts";
import { withImages } from "./image-inputs.ts";
import type { ImageRelay, IncomingImages } from "./image-relay.ts";
import { streamImages } from "./image-stream.ts";
import { ImageWork } from "./image-work.ts";
import { jsonBody } from "./json-body.ts";
import { resolutionOf, settleImages } from "./settle-images.ts";

/** Serves a call for images: like any other call, with calls to media APIs in the middle. */
export async function relayImages(incoming: IncomingImages, gateway: Gateway): Promise<Response> {
  const { admitted, asked } = await admitCall(incoming, gateway, (entered) => readImages(incoming, entered, gateway));
  const { model, request, plan } = asked;
  const { targets } = plan;
  const { client } = admitted;
  const work = new ImageWork(client, gateway);
  const call: ImageRelay & { incoming: IncomingImages } = {
    ...admitted,
    incoming,
    model,
    request,
    work,
    stream: request.stream,
    plan: plan.explained,
  };
  try {
    return request.stream ? await streamImages(call, gateway, targets) : await wholeImages(call, gateway, targets);
  } catch (thrown) {
    const error = asGatewayError(client.disconnected ? new ClientDisconnectedError() : thrown);
    await settleImages(call, gateway, client.disconnected ? "client_gone" : error.kind);
    throw new RelayError(inClientWords(error, request.paths), call);
  }
}

/** The request, resolved and admitted, and the targets that can serve it. */
async function readImages(incoming: IncomingImages, { principal, entry, memory }: EnteredRequest, gateway: Gateway) {
  const { model: named, request: read, body } = await incoming.protocol.read(incoming.request, memory, gateway);
  const wanted = readRouting(body ?? NO_FIELDS, incoming.request.headers);
  const { catalogue, targets } = gateway.snapshot;
  const { model, offers, notes } = catalogue.resolve(incoming.modelInPath ?? named ?? "", incoming.naming);
  const offered = targets.images(model, offers);
  const resolved = await withImages(read, gateway, incoming.request.signal);
  const more = [...notes, ...notesOnMedia(wanted, true)];
  const request = more.length === 0 ? resolved : { ...resolved, notes: [...more, ...resolved.notes] };
  const routing = askedRouting(wanted, { incoming, principal, model }, gateway);
  const plan = planMedia({ model, routing }, gateway, imageOffersThatFit(request, offered, model));
  const { count, quality } = request.call;
  const admission = entry.admit({
    model: model.id,
    dialect: incoming.dialect.name,
    estimatedCostNanoUsd: expectedImageCost(count, { quality, ...resolutionOf(request.call) }, offers),
    estimatedTokens: 0,
  });
  return { admission, model, plan, request, routing };
}

const NO_FIELDS = {};

async function wholeImages(
  call: ImageRelay & { incoming: IncomingImages },
  gateway: Gateway,
  plan: readonly ImageTarget[],
): Promise<Response> {
  const { incoming, client } = call;
  const reply = await tryOffers(call, gateway, plan, beginImages(call, gateway), (attempt) =>
    incoming.protocol.blockedInBand ? imagesOrReasons(call, gateway, attempt) : imagesOf(call, gateway, attempt),
  );
  call.work.made = { reply, whole: true };
  if (client.disconnected) throw new ClientDisconnectedError();
  const { receiptId, principal } = call;
  const answering = { request: requestSent(call), project: principal.project, receiptId, nowMs: gateway.clock.nowMs() };
  const answer = await incoming.protocol.encode(reply, answering, gateway);
  await settleImages(call, gateway, "ok");
  return identifiedResponse(jsonBody(answer, client, gateway), answerHeaders(call, "application/json"));
}
