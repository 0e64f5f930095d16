import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { DeliveredImage } from "../../media/delivered-image.ts";
import type { ImageReply, ImageResult } from "../../media/image-reply.ts";
import { decodeEdit } from "../../media/images-api/decode-edit.ts";
import { decodeEditBody, decodeGeneration } from "../../media/images-api/decode-images.ts";
import { encodeImages } from "../../media/images-api/encode-images.ts";
import { splitForm } from "../../media/images-api/split-form.ts";
import { decodePredict } from "../../media/predict/decode-predict.ts";
import { encodePredictions } from "../../media/predict/encode-predictions.ts";
import type { Gateway } from "../gateway.ts";
import { inlineImages } from "../request/inline-images.ts";
import type { HeldMemory } from "../request/memory-budget.ts";
import { readBody } from "../request/read-body.ts";
import { formFields, freeUpload, isForm, readForm } from "../request/read-form.ts";
import { formText } from "../settle/capture-call.ts";
import { nothingMade } from "./image-failures.ts";
import type { ImageAnswering, ImageProtocol } from "./image-relay.ts";

/** Larger images are put into the file store and given by URL. In characters of base64. */
const INLINE_LIMIT = 28 * 1024 * 1024;

/** Where requests name images. */
const IMAGE_FIELDS = ["image", "images", "mask"];

/** Contract 2.4: `:predict`. Blocked images are elements of the response, so a response with only blocked images is valid. */
export const PREDICT: ImageProtocol = {
  blockedInBand: true,
  read: async (request, { memory }, gateway) => {
    const received = await jsonBody(request, memory, gateway);
    const { body } = received;
    return { body, request: decodePredict(body), sent: received };
  },
  encode: async (reply, answering, gateway) => {
    if (reply.results.every((result) => result.kind === "failed")) throw nothingMade(reply.results);
    return encodePredictions(await delivered(reply, answering, gateway));
  },
};

const asImages: ImageProtocol["encode"] = async (reply, answering, gateway) => {
  if (!reply.results.some((result) => result.kind === "made")) throw nothingMade(reply.results);
  const { request, nowMs } = answering;
  return encodeImages(await delivered(reply, answering, gateway), request, Math.floor(nowMs / 1000));
};

/** Contract part 4: `images/generations`. */
export const GENERATIONS: ImageProtocol = {
  read: async (request, caller, gateway) => {
    const received = await jsonBody(request, caller.memory, gateway);
    const { body } = received;
    const inlined = await inlineImages(body, IMAGE_FIELDS, caller, gateway);
    return { body, request: decodeGeneration(inlined), sent: received };
  },
  encode: asImages,
};

/** Contract part 4: `images/edits`, a form; the JSON form of the vendor's own API is read too. */
export const EDITS: ImageProtocol = {
  read: async (request, caller, gateway) => {
    const { memory } = caller;
    if (!isForm(request)) {
      refuseOtherTypes(request.headers.get("content-type") ?? "");
      const received = await jsonBody(request, memory, gateway);
      const { body } = received;
      const inlined = await inlineImages(body, IMAGE_FIELDS, caller, gateway);
      return { body, request: decodeEditBody(inlined), sent: received };
    }
    const { form, bytes } = await readForm(request, memory, gateway);
    const model = form.find((entry) => entry.name === "model" && "value" in entry);
    const { routing, rest } = splitForm(form);
    const decoded = decodeEdit(rest);
    const text = formText(form);
    const isGuarded = gateway.snapshot.guards !== undefined;
    if (!isGuarded) freeUpload(bytes);
    return {
      ...(isGuarded ? { form } : {}),
      body: routing,
      fields: formFields(form),
      request: decoded,
      sent: { text },
      model: model && "value" in model ? model.value : undefined,
    };
  },
  encode: asImages,
};

function refuseOtherTypes(type: string): void {
  if (/^application\/([\w.-]+\+)?json\b/i.test(type)) return;
  const found = type === "" ? "none was sent" : `it is ${type.slice(0, 80)}`;
  const message = `The Content-Type must be multipart/form-data or application/json; ${found}.`;
  throw new GatewayError("unsupported_media_type", message);
}

const jsonBody = (request: Request, memory: HeldMemory, gateway: Gateway) =>
  readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);

/** Delivers each image inline or by URL. */
async function delivered(
  reply: ImageReply,
  { project, keyId, receiptId, nowMs }: ImageAnswering,
  { files }: Gateway,
): Promise<ImageReply<DeliveredImage>> {
  const results = await Promise.all(
    reply.results.map(async (result): Promise<ImageResult<DeliveredImage>> => {
      if (result.kind !== "made" || result.image.base64.length <= INLINE_LIMIT) return result;
      const { mimeType, base64 } = result.image;
      const content = Buffer.from(base64, "base64");
      try {
        const file = await files.keep({ project, owner: receiptId, mimeType, content, nowMs });
        return { ...result, image: { url: files.urlOf(file, keyId), mimeType } };
      } catch (thrown) {
        // Generated and billed: if the store is full, the client receives the image itself, however large.
        if (asGatewayError(thrown).kind !== "overloaded") throw thrown;
        return result;
      }
    }),
  );
  return { ...reply, results };
}
