import { arrayAt, isObject, type JsonObject, parseObject, stringAt } from "../../base/json.ts";
import type { AskedImage, ImageOutcome } from "../../dialects/request/hosted-images.ts";
import { readFrames } from "../../wire/sse.ts";
import type { HostedRounds } from "../answer/hosted-rounds.ts";
import { errorOf } from "../answer/stream-texts.ts";
import { readEvents } from "../attempt/read-events.ts";
import { GENERATIONS } from "./image-protocols.ts";
import { relayImages } from "./images.ts";

type Rounds = Pick<HostedRounds, "work" | "imageModel" | "tool">;

/** Generates an image as a separate call. Its errors are reported to the model, unless they end the response as a whole. */
export async function makeHostedImage(asked: AskedImage, rounds: Rounds): Promise<ImageOutcome> {
  try {
    const response = await askImages(asked.request, rounds);
    const answer = parseObject(await response.text()) ?? {};
    const [image] = arrayAt(answer, "data").filter(isObject);
    return image === undefined
      ? { error: "the provider returned no image" }
      : { image, format: stringAt(answer, "output_format") };
  } catch (thrown) {
    return failed(thrown, rounds);
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
        if (error !== undefined) {
          rounds.work.requireRunning();
          return { error };
        }
        if (type.endsWith(".completed")) return { image: event, format: stringAt(event, "output_format") };
        if (type.endsWith(".partial_image")) yield { preview: stringAt(event, "b64_json") ?? "" };
      }
    }
    return { error: "the provider returned no image" };
  } catch (thrown) {
    return failed(thrown, rounds);
  }
}

function askImages(asked: JsonObject, { work, imageModel }: Rounds): Promise<Response> {
  const body = { ...asked, model: imageModel, n: 1 };
  const incoming = work.next("hosted_image", body, { naming: { vendorNames: false }, modelInPath: undefined });
  return relayImages({ ...incoming, protocol: GENERATIONS }, work.gateway);
}

function failed(thrown: unknown, { work }: Rounds): ImageOutcome {
  if (work.isEndedBy(thrown)) throw thrown;
  return { error: errorOf(thrown).message };
}
