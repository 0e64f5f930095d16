import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { encodeImage } from "../../../media/publish.ts";
import { StreamedAnswer } from "../../../media/streamed-answer.ts";
import type { ImageOptions } from "../../../media-maker/paint-image.ts";
import { imageUsage } from "./image-usage.ts";
import { failureOf, imageCount, imageOf } from "./play-outcome.ts";
import type { ImageRequest } from "./read-request.ts";

function frame(type: string, body: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}

/** A quick image is done before all the partial ones that were asked for could be shown. */
function partialsOf(request: ImageRequest): number {
  return request.quality === "low" ? Math.min(1, request.partials) : request.partials;
}

async function* frames(
  request: ImageRequest,
  outcome: Outcome | undefined,
  context: MediaContext,
): AsyncGenerator<string> {
  const prefix = request.action === "edit" ? "image_edit" : "image_generation";
  const imageJson = async (image: ImageOptions): Promise<JsonObject> => ({
    b64_json: await encodeImage(image),
    created_at: Math.floor(context.nowMs() / 1_000),
    size: `${request.width}x${request.height}`,
    quality: request.quality,
    background: request.background,
    output_format: request.format,
  });
  const failure = failureOf(request, outcome);
  const count = failure === undefined ? imageCount(request, outcome) : 1;
  for (let at = 0; at < count; at += 1) {
    for (let partial = 0; partial < partialsOf(request); partial += 1) {
      const body = await imageJson(imageOf(request, at, partial));
      yield frame(`${prefix}.partial_image`, { ...body, partial_image_index: partial });
    }
    if (failure !== undefined) return yield frame("error", JSON.parse(failure.body) as JsonObject);
    const body = await imageJson(imageOf(request, at));
    yield frame(`${prefix}.completed`, { ...body, usage: imageUsage(request, 1, false) });
  }
}

/** The images as they come, each with up to three views of its making. */
export function streamImages(
  exchange: Exchange,
  request: ImageRequest,
  outcome: Outcome | undefined,
  context: MediaContext,
): Response {
  return new StreamedAnswer(exchange, "text/event-stream; charset=utf-8", frames(request, outcome, context));
}
