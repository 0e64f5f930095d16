import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { countAt, type Usage } from "../../canon/usage.ts";
import type { AdapterContext } from "../../media/adapter.ts";
import type { MediaLink } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageResult } from "../../media/image-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";

/** The seeds of all the host's models. */
export const SEEDS = { min: 0, max: 2_147_483_647 };

/** A request for images in the form of a conversation, which the newer models of both families read. */
export function messagesBody(call: FittedImageCall, { model }: AdapterContext): JsonObject {
  const content = [...call.inputs.map((image) => ({ image: dataUrl(image) })), { text: call.prompt }];
  return { model, input: { messages: [{ role: "user", content }] }, parameters: parametersOf(call) };
}

/** Count and size are always sent: without them, some models make four images of the largest size. */
export function parametersOf(call: FittedImageCall): JsonObject {
  const { pixels, negativePrompt, seed, enhancePrompt } = call;
  return {
    n: call.count,
    watermark: call.watermark ?? false,
    ...(pixels && { size: `${pixels.width}*${pixels.height}` }),
    ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
    ...(seed !== undefined && { seed }),
    ...(enhancePrompt !== undefined && { prompt_extend: enhancePrompt }),
  };
}

/** The images in an answer's `output.choices`. */
export function readChoices(output: JsonObject | undefined): ImageResult<MediaLink>[] {
  return arrayAt(output, "choices")
    .flatMap((choice) => arrayAt(objectAt(choice, "message"), "content"))
    .filter(isObject)
    .flatMap((item) => {
      const url = stringAt(item, "image");
      return url ? [{ kind: "made", image: { url } } as const] : [];
    });
}

export function readUsage(body: JsonObject): Usage | undefined {
  const images = countAt(objectAt(body, "usage"), "image_count");
  return images === undefined ? undefined : { images };
}
