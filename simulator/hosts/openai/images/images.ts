import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { playImmediateOutcome, takeTime } from "../../../media/play-outcome.ts";
import { encodeImage, publishImage } from "../../../media/publish.ts";
import { immediateErrors } from "../immediate-errors.ts";
import { anyFields, type Fields, jsonFields } from "../request-fields.ts";
import { imageFamilyOf } from "./image-families.ts";
import { readInputs } from "./image-inputs.ts";
import { streamImages } from "./image-stream.ts";
import { imageUsage } from "./image-usage.ts";
import { blockedBy, failureOf, imageCount, imageOf } from "./play-outcome.ts";
import { type ImageAction, type ImageRequest, modelOf, readImageRequest } from "./read-request.ts";

const LINK_KEPT_MS = 60 * 60_000;

async function answer(request: ImageRequest, outcome: Outcome | undefined, context: MediaContext): Promise<Response> {
  const count = imageCount(request, outcome);
  const data: JsonObject[] = [];
  for (let at = 0; at < count; at += 1) {
    const revised = request.revises ? { revised_prompt: `${request.prompt} (revised)` } : {};
    const image = imageOf(request, at);
    const result: JsonObject =
      request.answersWith === "url"
        ? { url: publishImage(context, image, { outcome, keptMs: LINK_KEPT_MS }) }
        : { b64_json: await encodeImage(image) };
    data.push({ ...revised, ...result });
  }
  const created = Math.floor(context.nowMs() / 1_000);
  if (!request.gpt) return Response.json({ created, data });
  return Response.json({
    created,
    background: request.background,
    data,
    output_format: request.format,
    quality: request.quality,
    size: `${request.width}x${request.height}`,
    usage: imageUsage(request, count, true),
  });
}

function fieldsOf(exchange: Exchange, action: ImageAction): Fields {
  return action === "generation" ? { values: jsonFields(exchange) } : anyFields(exchange);
}

export async function makeImages(
  exchange: Exchange,
  context: MediaContext,
  key: string,
  action: ImageAction,
): Promise<Response> {
  const fields = fieldsOf(exchange, action);
  const model = modelOf(fields.values);
  exchange.countModel(model);
  const single = !imageFamilyOf(model).gpt;
  const inputs = action === "edit" ? readInputs(fields, single) : [];
  const request = readImageRequest(fields.values, action, fields.files !== undefined, inputs);
  const outcome = chooseOutcome(request.prompt, request.count, exchange, key);
  const immediate = playImmediateOutcome(outcome, immediateErrors(model, blockedBy(request)));
  if (immediate !== undefined) return immediate;
  await takeTime(outcome, exchange);
  if (request.stream) return streamImages(exchange, request, outcome, context);
  const failure = failureOf(request, outcome);
  if (failure !== undefined) throw failure;
  return answer(request, outcome, context);
}
