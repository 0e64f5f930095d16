import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { countAt, type Usage } from "../../canon/usage.ts";
import type { JobState, MediaAnswer } from "../../media/adapter.ts";
import type { InlineImage, MediaLink } from "../../media/image.ts";
import type { ImageEvent, ImageResult, ImageSettings, UpstreamImageReply } from "../../media/image-reply.ts";
import { imageType } from "../media-adapters/image-type.ts";
import { emptyAnswer, errorWords, mediaFailure } from "../media-adapters/media-failure.ts";
import { OPENAI_CODES } from "./errors.ts";

type Reply = JobState<UpstreamImageReply>;

export function readImages(answer: MediaAnswer): Reply {
  const { body } = answer;
  const results = arrayAt(body, "data").flatMap((item) => readResult(item, stringAt(body, "output_format")));
  if (body?.["error"] != null && results.length === 0) throw mediaFailure(answer, OPENAI_CODES);
  if (body === undefined || results.length === 0) throw emptyAnswer("images");
  const usage = readUsage(body, results.length);
  const settings = readSettings(body);
  return {
    state: "done",
    reply: { results, ...withoutAbsent({ usage, settings }) },
  };
}

/** Reads one event of a streamed answer; those of generations and edits differ only in the first half of their names. */
export function readImageEvent(event: JsonObject): ImageEvent | undefined {
  const type = stringAt(event, "type") ?? "";
  if (event["error"] != null || type === "error") throw streamError(event);
  const base64 = stringAt(event, "b64_json");
  if (base64 === undefined) return undefined;
  const image = { mimeType: mimeTypeOf(base64, stringAt(event, "output_format")), base64 };
  const settings = readSettings(event);
  const set = settings === undefined ? {} : { settings };
  if (type.endsWith(".partial_image")) {
    return { kind: "partial", image, index: numberAt(event, "partial_image_index") ?? 0, ...set };
  }
  if (!type.endsWith(".completed")) return undefined;
  const usage = readUsage(event, 1);
  return { kind: "result", result: { kind: "made", image }, ...set, ...withoutAbsent({ usage }) };
}

function streamError(event: JsonObject): GatewayError {
  const { kind = "upstream_failed", message, code, path } = errorWords(event, OPENAI_CODES);
  const blocked = kind === "content_blocked" && message !== undefined;
  return new GatewayError(kind, blocked ? message : "The provider's stream ended before the image was complete.", {
    ...(blocked && code !== undefined ? { code } : {}),
    ...(blocked && path !== undefined ? { path } : {}),
  });
}

function readResult(item: unknown, format: string | undefined): ImageResult<InlineImage | MediaLink>[] {
  const base64 = stringAt(item, "b64_json");
  const url = stringAt(item, "url");
  const revised = stringAt(item, "revised_prompt");
  const image = base64 === undefined ? url && { url } : { mimeType: mimeTypeOf(base64, format), base64 };
  if (!image) return [];
  return [{ kind: "made", image, ...withoutAbsent({ revisedPrompt: revised }) }];
}

function mimeTypeOf(base64: string, format: string | undefined): string {
  return imageType(base64, format === undefined ? undefined : `image/${format}`);
}

function readSettings(body: JsonObject): ImageSettings | undefined {
  const size = stringAt(body, "size");
  const quality = stringAt(body, "quality");
  const background = stringAt(body, "background");
  const outputFormat = stringAt(body, "output_format");
  const settings: ImageSettings = {
    ...withoutAbsent({ size, quality, background, outputFormat }),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

/** The host's totals count text and images together. Without details, input counts as text and output as images. */
function readUsage(body: JsonObject, images: number): Usage | undefined {
  const usage = body["usage"];
  if (!isObject(usage)) return undefined;
  const input = countAt(usage, "input_tokens");
  const output = countAt(usage, "output_tokens");
  if (input === undefined && output === undefined) return undefined;
  const imageInput = countAt(objectAt(usage, "input_tokens_details"), "image_tokens");
  const textOutput = countAt(objectAt(usage, "output_tokens_details"), "text_tokens");
  return {
    images,
    ...withoutAbsent({
      input: input === undefined ? undefined : Math.max(0, input - (imageInput ?? 0)),
      imageInput,
      output: textOutput,
      imageOutput: output === undefined ? undefined : Math.max(0, output - (textOutput ?? 0)),
    }),
  };
}
