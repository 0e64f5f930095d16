import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { playAtOnce, takeTime } from "../../../media/play-outcome.ts";
import { encodePicture, publishPicture } from "../../../media/publish.ts";
import { wordsAtOnce } from "../at-once.ts";
import { anyFields, type Fields, jsonFields } from "../request-fields.ts";
import { imageFamilyOf } from "./image-families.ts";
import { readInputs } from "./image-inputs.ts";
import { blockedBy, failureOf, pictureCount, pictureOf } from "./image-outcome.ts";
import { streamImages } from "./image-stream.ts";
import { imageUsage } from "./image-usage.ts";
import { type ImageAction, type ImageWish, modelOf, readImageWish } from "./image-wish.ts";

const LINK_KEPT_MS = 60 * 60_000;

async function answer(wish: ImageWish, outcome: Outcome | undefined, context: MediaContext): Promise<Response> {
  const count = pictureCount(wish, outcome);
  const data: JsonObject[] = [];
  for (let at = 0; at < count; at += 1) {
    const revised = wish.revises ? { revised_prompt: `${wish.prompt} (revised)` } : {};
    const picture = pictureOf(wish, at);
    const result: JsonObject =
      wish.answersWith === "url"
        ? { url: publishPicture(context, picture, { outcome, keptMs: LINK_KEPT_MS }) }
        : { b64_json: await encodePicture(picture) };
    data.push({ ...revised, ...result });
  }
  const created = Math.floor(context.nowMs() / 1_000);
  if (!wish.gpt) return Response.json({ created, data });
  return Response.json({
    created,
    background: wish.background,
    data,
    output_format: wish.format,
    quality: wish.quality,
    size: `${wish.width}x${wish.height}`,
    usage: imageUsage(wish, count, true),
  });
}

async function fieldsOf(exchange: Exchange, action: ImageAction): Promise<Fields> {
  return action === "generation" ? { values: jsonFields(exchange) } : anyFields(exchange);
}

export async function makeImages(
  exchange: Exchange,
  context: MediaContext,
  key: string,
  action: ImageAction,
): Promise<Response> {
  const fields = await fieldsOf(exchange, action);
  const model = modelOf(fields.values);
  exchange.countModel(model);
  const single = !imageFamilyOf(model).gpt;
  const inputs = action === "edit" ? readInputs(fields, single) : [];
  const wish = readImageWish(fields.values, action, fields.files !== undefined, inputs);
  const outcome = chooseOutcome(wish.prompt, wish.count, exchange, key);
  const struck = playAtOnce(outcome, wordsAtOnce(model, blockedBy(wish)));
  if (struck !== undefined) return struck;
  await takeTime(outcome, exchange);
  if (wish.stream) return streamImages(exchange, wish, outcome, context);
  const failure = failureOf(wish, outcome);
  if (failure !== undefined) throw failure;
  return answer(wish, outcome, context);
}
