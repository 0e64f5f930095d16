import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { isHeldBack, playAtOnce, waitFor } from "../../../media/play-outcome.ts";
import { encodePicture } from "../../../media/publish.ts";
import { noSuchModel, wordsAtOnce } from "../refusals.ts";
import { type GoogleHost, googleFailure } from "../text/errors.ts";
import { type ImagenWish, readImagen } from "./imagen-request.ts";

const MODELS = /^(?:standard|imagen-(?:3\.0|4\.0)(?:-fast|-ultra)?-generate-[\w-]+|imagen-3\.0-capability-\d+)$/;
const PROMPT_CATEGORIES = ["Death, Harm & Tragedy", "Firearms & Weapons", "Hate", "Porn", "Toxic", "Violence"];
const PICTURE_CATEGORIES = ["Porn", "Violence"];

function safety(categories: readonly string[]): JsonObject {
  return { safetyAttributes: { categories: [...categories], scores: categories.map(() => 0) } };
}

async function prediction(wish: ImagenWish, index: number, model: string): Promise<JsonObject> {
  const mimeType = `image/${wish.format}`;
  const { storageUri } = wish;
  const told = {
    ...(wish.rewritesPrompt ? { prompt: `A detailed picture: ${wish.prompt}` } : {}),
    ...(wish.tellsSafety ? safety(PICTURE_CATEGORIES) : {}),
  };
  if (storageUri !== undefined) {
    const ending = wish.format === "jpeg" ? "jpg" : "png";
    return { mimeType, gcsUri: `${storageUri}/${crypto.randomUUID()}/sample_${index}.${ending}`, ...told };
  }
  const bytesBase64Encoded = await encodePicture({
    prompt: wish.prompt,
    width: wish.width,
    height: wish.height,
    seed: wish.seed + index,
    format: wish.format,
    ...(wish.quality === undefined ? {} : { quality: wish.quality }),
    inputs: wish.inputs,
    note: model,
  });
  return { bytesBase64Encoded, mimeType, ...told };
}

/** Held-back pictures are missing from the list; why is told in one item, and only when asked for. */
function filteredItems(wish: ImagenWish, filtered: number): JsonObject[] {
  if (filtered === 0 || !wish.tellsReason) return [];
  const all = filtered === wish.count;
  const raiFilteredReason = all
    ? "Unable to show the generated images: all of them were filtered out by the usage guidelines. Support codes: 39322892"
    : `Your current safety filter threshold filtered out ${filtered} generated images. Rephrase the prompt.`;
  return [{ raiFilteredReason }];
}

/** Imagen's `:predict`. What it makes is in the answer, so that there is no job to forget and no link to expire. */
export async function predictPictures(
  exchange: Exchange,
  context: MediaContext,
  host: GoogleHost,
  model: string,
  caller: string,
): Promise<Response> {
  exchange.countModel(model);
  if (!MODELS.test(model)) throw noSuchModel(host, model, "predict", exchange.url.pathname);
  const wish = readImagen(exchange, host, model);
  const outcome = chooseOutcome(wish.prompt, wish.count, exchange, caller);
  const struck = playAtOnce(outcome, wordsAtOnce(model, host));
  if (struck !== undefined) return struck;
  const job = context.jobs.create({
    id: crypto.randomUUID(),
    host: `${host} predict`,
    key: caller,
    wish: null,
    outcome,
  });
  if (outcome === "slow") await waitFor(job, context, exchange.signal);
  if (outcome === "fails") throw googleFailure("500", model, host);

  const indexes = Array.from({ length: wish.count }, (_, index) => index);
  const made = indexes.filter((index) => !isHeldBack(outcome, index));
  const pictures = await Promise.all(made.map((index) => prediction(wish, index, model)));
  const predictions = [...pictures, ...filteredItems(wish, wish.count - made.length)];
  if (predictions.length === 0) return Response.json({});
  const promptItem = wish.tellsSafety ? [{ contentType: "Positive Prompt", ...safety(PROMPT_CATEGORIES) }] : [];
  return Response.json({ predictions: [...predictions, ...promptItem] });
}
