import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { isHeldBack, playImmediateOutcome, waitFor } from "../../../media/play-outcome.ts";
import { encodeImage } from "../../../media/publish.ts";
import { immediateErrors, noSuchModel } from "../refusals.ts";
import { type GoogleHost, googleFailure } from "../text/errors.ts";
import { type ImagenRequest, readImagen } from "./imagen-request.ts";

const MODELS = /^(?:standard|imagen-(?:3\.0|4\.0)(?:-fast|-ultra)?-generate-[\w-]+|imagen-3\.0-capability-\d+)$/;
const PROMPT_CATEGORIES = ["Death, Harm & Tragedy", "Firearms & Weapons", "Hate", "Porn", "Toxic", "Violence"];
const IMAGE_CATEGORIES = ["Porn", "Violence"];

function safety(categories: readonly string[]): JsonObject {
  return { safetyAttributes: { categories: [...categories], scores: categories.map(() => 0) } };
}

async function prediction(request: ImagenRequest, index: number, model: string): Promise<JsonObject> {
  const mimeType = `image/${request.format}`;
  const { storageUri } = request;
  const shared = {
    ...(request.rewritesPrompt ? { prompt: `A detailed image: ${request.prompt}` } : {}),
    ...(request.tellsSafety ? safety(IMAGE_CATEGORIES) : {}),
  };
  if (storageUri !== undefined) {
    const ending = request.format === "jpeg" ? "jpg" : "png";
    return { mimeType, gcsUri: `${storageUri}/${crypto.randomUUID()}/sample_${index}.${ending}`, ...shared };
  }
  const bytesBase64Encoded = await encodeImage({
    prompt: request.prompt,
    width: request.width,
    height: request.height,
    seed: request.seed + index,
    format: request.format,
    ...(request.quality === undefined ? {} : { quality: request.quality }),
    inputs: request.inputs,
    note: model,
  });
  return { bytesBase64Encoded, mimeType, ...shared };
}

/** Held-back images are missing from the list. One item gives the reason, only when the request asks for it. */
function filteredItems(request: ImagenRequest, filtered: number): JsonObject[] {
  if (filtered === 0 || !request.tellsReason) return [];
  const all = filtered === request.count;
  const raiFilteredReason = all
    ? "Unable to show the generated images: all of them were filtered out by the usage guidelines. Support codes: 39322892"
    : `Your current safety filter threshold filtered out ${filtered} generated images. Rephrase the prompt.`;
  return [{ raiFilteredReason }];
}

/** Imagen's `:predict`. Results are inline, so there are no jobs or links that expire. */
export async function predictImages(
  exchange: Exchange,
  context: MediaContext,
  host: GoogleHost,
  model: string,
  caller: string,
): Promise<Response> {
  exchange.countModel(model);
  if (!MODELS.test(model)) throw noSuchModel(host, model, "predict", exchange.url.pathname);
  const request = readImagen(exchange, host, model);
  const outcome = chooseOutcome(request.prompt, request.count, exchange, caller);
  const immediate = playImmediateOutcome(outcome, immediateErrors(model, host));
  if (immediate !== undefined) return immediate;
  const job = context.jobs.create({
    id: crypto.randomUUID(),
    host: `${host} predict`,
    key: caller,
    request: null,
    outcome,
  });
  if (outcome === "slow") await waitFor(job, context, exchange.signal);
  if (outcome === "fails") throw googleFailure("500", model, host);

  const indexes = Array.from({ length: request.count }, (_, index) => index);
  const made = indexes.filter((index) => !isHeldBack(outcome, index));
  const images = await Promise.all(made.map((index) => prediction(request, index, model)));
  const predictions = [...images, ...filteredItems(request, request.count - made.length)];
  if (predictions.length === 0) return Response.json({});
  const promptItem = request.tellsSafety ? [{ contentType: "Positive Prompt", ...safety(PROMPT_CATEGORIES) }] : [];
  return Response.json({ predictions: [...predictions, ...promptItem] });
}
