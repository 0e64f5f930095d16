import { arrayAt, isObject, type JsonObject, parseObject, stringAt } from "../../base/json.ts";
import { asGatewayError } from "../../canon/error.ts";
import type { AskedImage, ImageOutcome } from "../../dialects/request/hosted-images.ts";
import { readFrames } from "../../wire/sse.ts";
import { requestWith } from "../answer/hosted-request.ts";
import type { HostedRounds } from "../answer/hosted-rounds.ts";
import { RelayError } from "../answer/relay-error.ts";
import { readEvents } from "../attempt/read-events.ts";
import { GENERATIONS } from "./image-protocols.ts";
import { relayImages } from "./images.ts";

type Rounds = Pick<HostedRounds, "gateway" | "incoming" | "imageModel" | "tool">;

/** Generates an image as a separate call, which is admitted and billed like any other. Errors are reported to the model. */
export async function makeHostedImage(asked: AskedImage, rounds: Rounds): Promise<ImageOutcome> {
  try {
    const response = await askImages(asked.request, rounds);
    const answer = parseObject(await response.text()) ?? {};
    const [image] = arrayAt(answer, "data").filter(isObject);
    return image === undefined
      ? { error: "the provider returned no image" }
      : { image, format: stringAt(answer, "output_format") };
  } catch (thrown) {
    return failed(thrown);
  }
}

/** The same with previews, which precede the image. */
export async function* previewHostedImage(
  asked: AskedImage,
  rounds: Rounds,
): AsyncGenerator<{ preview: string }, ImageOutcome> {
  try {
    const stream = { ...asked.request, stream: true, partial_images: rounds.tool.previews };
    const response = await askImages(stream, rounds);
    for await (const text of readEvents(response)) {
      for (const { data } of readFrames(text)) {
        const event = parseObject(data ?? "") ?? {};
        const type = stringAt(event, "type") ?? "";
        const error = isObject(event["error"]) ? stringAt(event["error"], "message") : undefined;
        if (error !== undefined) return { error };
        if (type.endsWith(".completed")) return { image: event, format: stringAt(event, "output_format") };
        if (type.endsWith(".partial_image")) yield { preview: stringAt(event, "b64_json") ?? "" };
      }
    }
    return { error: "the provider returned no image" };
  } catch (thrown) {
    return failed(thrown);
  }
}

function askImages(asked: JsonObject, { incoming, gateway, imageModel }: Rounds): Promise<Response> {
  const { modelInPath: _model, streamInPath: _stream, ...request } = incoming;
  const body = { ...asked, model: imageModel, n: 1 };
  return relayImages(
    { ...request, request: requestWith(incoming.request, body), naming: { vendorNames: false }, protocol: GENERATIONS },
    gateway,
  );
}

const failed = (thrown: unknown): ImageOutcome => ({
  error: asGatewayError(thrown instanceof RelayError ? thrown.error : thrown).message,
});
