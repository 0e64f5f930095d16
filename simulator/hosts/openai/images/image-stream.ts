import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { encodePicture } from "../../../media/publish.ts";
import { StreamedAnswer } from "../../../media/streamed-answer.ts";
import type { PictureWish } from "../../../media-maker/draw-picture.ts";
import { failureOf, pictureCount, pictureOf } from "./image-outcome.ts";
import { imageUsage } from "./image-usage.ts";
import type { ImageWish } from "./image-wish.ts";

function frame(type: string, body: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}

/** A quick picture is done before all the partial ones that were asked for could be shown. */
function partialsOf(wish: ImageWish): number {
  return wish.quality === "low" ? Math.min(1, wish.partials) : wish.partials;
}

async function* frames(wish: ImageWish, outcome: Outcome | undefined, context: MediaContext): AsyncGenerator<string> {
  const prefix = wish.action === "edit" ? "image_edit" : "image_generation";
  const told = async (picture: PictureWish): Promise<JsonObject> => ({
    b64_json: await encodePicture(picture),
    created_at: Math.floor(context.nowMs() / 1_000),
    size: `${wish.width}x${wish.height}`,
    quality: wish.quality,
    background: wish.background,
    output_format: wish.format,
  });
  const failure = failureOf(wish, outcome);
  const count = failure === undefined ? pictureCount(wish, outcome) : 1;
  for (let at = 0; at < count; at += 1) {
    for (let partial = 0; partial < partialsOf(wish); partial += 1) {
      const body = await told(pictureOf(wish, at, partial));
      yield frame(`${prefix}.partial_image`, { ...body, partial_image_index: partial });
    }
    if (failure !== undefined) return yield frame("error", JSON.parse(failure.body) as JsonObject);
    const body = await told(pictureOf(wish, at));
    yield frame(`${prefix}.completed`, { ...body, usage: imageUsage(wish, 1, false) });
  }
}

/** The pictures as they come, each with up to three views of its making. */
export function streamImages(
  exchange: Exchange,
  wish: ImageWish,
  outcome: Outcome | undefined,
  context: MediaContext,
): Response {
  return new StreamedAnswer(exchange, "text/event-stream; charset=utf-8", frames(wish, outcome, context));
}
