import { asGatewayError } from "../../canon/error.ts";
import { unfold } from "../../canon/fold.ts";
import type { CanonReply, ReplyPart } from "../../canon/reply.ts";
import type { Offer } from "../../catalogue/model.ts";
import { priceCall } from "../../catalogue/price-call.ts";
import { answerNote } from "../../dialects/answer/answer-note.ts";
import type { EncodeAnswerContext } from "../../dialects/codec.ts";
import type { InlineImage } from "../../media/image.ts";
import type { ImageReply } from "../../media/image-reply.ts";
import { imageRequestOfCall } from "../../media/image-request-of-call.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { answerHeaders, streamHeaders } from "../answer/answer-headers.ts";
import { ClientOutput, commitsEarly, type DirectController, streamedBody } from "../answer/client-output.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import { RelayError } from "../answer/relay-error.ts";
import type { Call } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { planFitting } from "../request/plan-fitting.ts";
import { capturedController } from "../settle/capture-call.ts";
import { discountAt } from "../settle/discount.ts";
import { answerImages } from "./answer-images.ts";
import type { ImageRelay } from "./image-attempt.ts";
import { billOfImages } from "./image-bill.ts";
import { nothingMade } from "./image-failures.ts";
import { withImages } from "./image-inputs.ts";
import { fitImage } from "./make-at-offer.ts";
import { BYTES_PER_IMAGE, requireFileSpace } from "./require-file-space.ts";

/** A text call to a model that generates only images. The last message is the prompt, and the response is a message with the images. */
export async function relayConversationImages(
  call: Call,
  gateway: Gateway,
  offers: readonly Offer[],
): Promise<Response> {
  const { incoming } = call;
  if (!call.request) throw new Error("the request was released before it was read");
  const targets = gateway.snapshot.targets.images(call.model, offers);
  const asked = imageRequestOfCall(incoming.dialect.codec.decodeRequest(call.body), call.body);
  const signal = incoming.request.signal;
  const resolved = await withImages(asked, gateway, signal);
  const request = { ...resolved, notes: [...call.adapted, ...resolved.notes] };
  const { plan } = planFitting(call, gateway, targets, (target) => fitImage(request, target), request.paths);
  // A response in that protocol can contain only the URL of an image.
  if (!incoming.dialect.codec.showsImages) {
    await requireFileSpace(gateway, call.principal.project, request.call.count * BYTES_PER_IMAGE);
  }
  const relay: ImageRelay = { ...call, incoming, request, attempt: undefined, plan: plan.explained };
  call.request = undefined;
  if (call.stream) return streamAnswer(call, relay, gateway, plan.targets);
  const text = await answer(call, relay, gateway, plan.targets, (reply, context) =>
    incoming.dialect.codec.encodeResponse(reply, context),
  );
  call.capture?.answered(text);
  return identifiedResponse(text, answerHeaders(relay, "application/json"));
}

type Encode = (reply: CanonReply, context: EncodeAnswerContext) => string;

/** The whole response as text. It is stored when its row is committed, like any other. */
async function answer(
  call: Call,
  relay: ImageRelay,
  gateway: Gateway,
  plan: readonly ImageTarget[],
  encode: Encode,
): Promise<string> {
  const text = await answerImages(relay, gateway, plan, {
    blockedInBand: true,
    encode: async (made) => {
      if (made.results.every(({ kind }) => kind === "failed")) throw nothingMade(made.results);
      const reply = await replyOf(made, call, relay, gateway);
      return encode(reply, contextOf(call, relay, gateway, billOfImages(relay, relay.attempt?.target, made)));
    },
  });
  await call.saver?.save(call.saver);
  return text;
}

/** There is nothing to send before the end. The connection is kept alive if the protocol supports it. */
async function streamAnswer(
  call: Call,
  relay: ImageRelay,
  gateway: Gateway,
  plan: readonly ImageTarget[],
): Promise<Response> {
  const { dialect, options } = call.incoming;
  const encode: Encode = (reply, context) => {
    const encoder = dialect.codec.createStreamEncoder(context);
    return [...unfold(reply)].map((event) => encoder.push(event)).join("");
  };
  const work = answer(call, relay, gateway, plan, encode);
  const early = dialect.http.keepAlive !== undefined && (await commitsEarly(call, gateway, work));
  const { capture } = call;
  if (!early) {
    const text = await work;
    capture?.answered(text);
    return identifiedResponse(text, streamHeaders(relay, dialect.http.streamType(options)));
  }
  const body = streamedBody(call.client, (controller) =>
    writeLate(work, call, gateway, capture === undefined ? controller : capturedController(controller, capture)),
  );
  return identifiedResponse(body, streamHeaders(relay, dialect.http.streamType(options)));
}

async function writeLate(
  work: Promise<string>,
  call: Call,
  gateway: Gateway,
  controller: DirectController,
): Promise<void> {
  const { client, incoming } = call;
  const output = new ClientOutput(client, gateway, incoming.dialect.http.keepAlive);
  output.commit(controller, false);
  try {
    await output.sendText(await work);
  } catch (thrown) {
    if (!client.disconnected)
      await output.fail(asGatewayError(thrown instanceof RelayError ? thrown.error : thrown), call);
  } finally {
    output.close();
  }
}

async function replyOf(reply: ImageReply, call: Call, relay: ImageRelay, gateway: Gateway): Promise<CanonReply> {
  const parts: ReplyPart[] = [];
  const reasons: string[] = [];
  for (const result of reply.results) {
    if (result.kind === "made") parts.push(await partOf(result.image, call, relay, gateway));
    else reasons.push(result.kind === "filtered" ? result.reason : result.error.message);
  }
  const filtered = parts.length === 0;
  return {
    parts: filtered && reasons[0] !== undefined ? [{ type: "refusal", text: reasons[0] }] : parts,
    stop: filtered ? { unified: "filter", raw: "IMAGE_SAFETY" } : { unified: "stop", raw: "stop" },
    ...(filtered && reasons[0] !== undefined ? { stopDetail: reasons[0] } : {}),
    ...(reply.usage === undefined ? {} : { usage: reply.usage }),
  };
}

/** A response in the messages protocol cannot contain an image. The image is stored, and the response contains its URL. */
async function partOf(
  image: InlineImage,
  call: Call,
  relay: ImageRelay,
  { files, clock }: Gateway,
): Promise<ReplyPart> {
  const { mimeType, base64 } = image;
  if (call.incoming.dialect.codec.showsImages) {
    return { type: "media", kind: "image", source: { type: "data", mimeType, data: base64 } };
  }
  const { project, keyId } = call.principal;
  const content = Buffer.from(base64, "base64");
  const file = await files.keep({ project, owner: call.receiptId, mimeType, content, nowMs: clock.nowMs() });
  const reason = "responses in this protocol cannot contain images; the text contains the image's URL";
  relay.attempt?.notes.push(answerNote("content", "approximated", reason));
  return { type: "text", text: `![image](${files.urlOf(file, keyId)})` };
}

function contextOf(
  call: Call,
  relay: ImageRelay,
  gateway: Gateway,
  bill: ReturnType<typeof billOfImages>,
): EncodeAnswerContext {
  const { incoming, body } = call;
  return {
    publicModel: call.modelInAnswer,
    request: body,
    options: incoming.options,
    makeId: gateway.random.id,
    receivedAtMs: call.startedAtMs,
    // Images are counted in addition to the tokens that the protocol reports, so the cost is taken from the receipt.
    costUsd: () => priceCall(bill.usage, bill, [], discountOf(relay)).costNanoUsd / 1e9,
    nowSeconds: () => Math.floor(gateway.clock.wallMs() / 1000),
    estimateInputTokens: () => incoming.dialect.requests.estimateTokens(body),
    note: (note) => relay.attempt?.notes.push(note),
    ...saverOf(call),
  };
}

function discountOf({ principal, attempt }: ImageRelay): number {
  return attempt === undefined ? 0 : discountAt(principal, attempt.target);
}

function saverOf({ saver }: Call): Pick<EncodeAnswerContext, "keep" | "answerId"> {
  if (saver === undefined) return {};
  return { keep: (answer) => saver.take(saver, answer), answerId: saver.answerId };
}
