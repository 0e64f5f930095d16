import { withoutAbsent } from "../../base/without-absent.ts";
import type { ImageRequest } from "../../media/image-request.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { jsonChunks } from "../../wire/json-chunks.ts";
import { answerHeaders } from "../answer/answer-headers.ts";
import { chunkedBody } from "../answer/chunked-body.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import type { Call, ClientPresence } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { adapterCall } from "../request/adapter-kind.ts";
import { admitCall } from "../request/admit-call.ts";
import { capturedChunks } from "../settle/capture-call.ts";
import { answerImages } from "./answer-images.ts";
import { expectedImageCost } from "./expected-image-cost.ts";
import type { ImageRelay } from "./image-attempt.ts";
import { resolutionOf } from "./image-bill.ts";
import { withImages } from "./image-inputs.ts";
import type { IncomingImages } from "./image-relay.ts";
import { streamImages } from "./image-stream.ts";
import { fitImage, requestSent } from "./make-at-offer.ts";

const IMAGES = adapterCall<IncomingImages, ImageRequest, ImageTarget, void>({
  verb: "images",
  waits: true,
  read: async ({ request, protocol }, entered, gateway) => {
    const read = await protocol.read(request, entered, gateway);
    const { paths, stream } = read.request;
    return { ...read, paths, stream };
  },
  targets: (targets, model, offers) => targets.images(model, offers),
  prepare: async (read, notes, { request }, gateway) => {
    const fetched = await withImages(read, gateway, request.signal);
    return { ...fetched, notes: [...notes, ...fetched.notes] };
  },
  fit: (request, target) => void fitImage(request, target),
  estimate: ({ call }) => {
    const kind = { ...withoutAbsent({ quality: call.quality, size: call.size }), ...resolutionOf(call) };
    return ({ offer }) => ({ costNanoUsd: expectedImageCost(call.count, kind, [offer]), tokens: 0 });
  },
});

/** Serves an image call: like any other call, with requests to media APIs in the middle. */
export async function relayImages(incoming: IncomingImages, gateway: Gateway): Promise<Response> {
  const { admitted, asked } = await admitCall(IMAGES, incoming, gateway);
  const { request, plan } = asked.fitted;
  const call: ImageRelay = { ...admitted, request, plan: plan.explained };
  if (request.stream) return await streamImages(call, gateway, plan.targets);
  const { blockedInBand = false, encode } = incoming.protocol;
  const { receiptId, principal } = call;
  const answer = await answerImages(call, gateway, plan.targets, {
    blockedInBand,
    encode: (reply) => {
      const nowMs = gateway.clock.nowMs();
      const answering = {
        request: requestSent(call),
        project: principal.project,
        keyId: principal.keyId,
        receiptId,
        nowMs,
      };
      return encode(reply, answering, gateway);
    },
  });
  return identifiedResponse(jsonBody(answer, call, gateway), answerHeaders(call, "application/json"));
}

/** The JSON body of a response, in chunks if it is large. */
function jsonBody(
  value: unknown,
  { client, capture }: { client: ClientPresence; capture?: Call["capture"] },
  gateway: Gateway,
): string | ReadableStream {
  const chunks = jsonChunks(value);
  return chunkedBody(capture === undefined ? chunks : capturedChunks(chunks, capture), client, gateway);
}
