import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { GivenImage } from "../../../media/given-image.ts";
import { sizeOfShortSide } from "../../../media/image-size.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { isHeldBack, playImmediateOutcome, takeTime } from "../../../media/play-outcome.ts";
import { encodeImage, publishImage } from "../../../media/publish.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageOptions } from "../../../media-maker/paint-image.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { immediateErrors } from "../../openai/immediate-errors.ts";
import { jsonFields, refuseUnknown } from "../../openai/request-fields.ts";
import { optionalEnum, optionalNumber, requireString } from "../../openai/text/check.ts";
import { invalid, modelNotFound } from "../../openai/text/errors.ts";
import { aspectOf } from "../aspect-of.ts";
import { inXAiWords } from "../errors.ts";
import { readImage, readImages } from "../read-images.ts";

interface ImageRequest {
  model: string;
  prompt: string;
  count: number;
  measures: ImageSize;
  asLink: boolean;
  inputs: readonly GivenImage[];
}

interface ImageModel {
  /** In ticks of 1e-10 dollars, for each image. */
  ticks: number;
  resolutions: readonly string[];
  takesQuality: boolean;
}

const SECOND: ImageModel = { ticks: 400_000_000, resolutions: ["1k", "1.5k", "2k"], takesQuality: true };
const MODELS: Readonly<Record<string, ImageModel>> = {
  "grok-imagine-image": { ticks: 200_000_000, resolutions: ["1k", "2k"], takesQuality: false },
  "grok-imagine-image-quality": { ticks: 500_000_000, resolutions: ["1k", "2k"], takesQuality: false },
  "grok-imagine-image-2.0": SECOND,
  standard: SECOND,
};
const SHORT_SIDES: Readonly<Record<string, number>> = { "1k": 1_024, "1.5k": 1_536, "2k": 2_048 };
/** Three are documented; five were seen to work. */
const MAX_INPUTS = 5;
const LINK_KEPT_MS = 60 * 60_000;

function inputsOf(values: JsonObject): GivenImage[] {
  if (values.image !== undefined && values.images !== undefined) {
    throw invalid("image and images exclude each other.", "images", "invalid_value");
  }
  if (values.images === undefined) return [readImage(values.image, "image")];
  return readImages(values.images, "images", MAX_INPUTS);
}

function modelOf(values: JsonObject): [name: string, model: ImageModel] {
  const name = requireString(values.model, "model");
  const model = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (model === undefined) throw modelNotFound(name);
  return [name, model];
}

function readRequest(values: JsonObject, edits: boolean): ImageRequest {
  const [name, model] = modelOf(values);
  refuseUnknown(Object.keys(values), [
    ...["model", "prompt", "n", "aspect_ratio", "resolution", "response_format", "user"],
    ...(model.takesQuality ? ["quality"] : []),
    ...(edits ? ["image", "images"] : []),
  ]);
  optionalEnum(values, "quality", ["low", "medium", "auto"]);
  const prompt = requireString(values.prompt, "prompt");
  if (prompt === "") throw invalid("prompt must not be empty.", "prompt", "invalid_value");
  const inputs = edits ? inputsOf(values) : [];
  const resolution = optionalEnum(values, "resolution", model.resolutions) ?? "1k";
  return {
    model: name,
    prompt,
    count: optionalNumber(values, "n", [1, 10], true) ?? 1,
    measures: sizeOfShortSide(aspectOf(values, inputs[0]?.size), SHORT_SIDES[resolution] ?? 1_024, 16),
    asLink: (optionalEnum(values, "response_format", ["url", "b64_json"]) ?? "url") === "url",
    inputs,
  };
}

function imageOf({ prompt, measures, inputs, model }: ImageRequest, at: number): ImageOptions {
  return { prompt, ...measures, seed: seedOf(prompt, at), format: "jpeg", inputs: inputs.length, note: model };
}

/** An image that moderation blocks is listed among the others, without bytes or URL. */
async function entry(
  request: ImageRequest,
  at: number,
  outcome: Outcome | undefined,
  context: MediaContext,
): Promise<JsonObject> {
  const heldBack = isHeldBack(outcome, at);
  const shared = { mime_type: "image/jpeg", revised_prompt: "", respect_moderation: !heldBack };
  const image = imageOf(request, at);
  if (!request.asLink) return { b64_json: heldBack ? "" : await encodeImage(image), ...shared };
  return { url: heldBack ? "" : publishImage(context, image, { outcome, keptMs: LINK_KEPT_MS }), ...shared };
}

export async function makeImages(
  exchange: Exchange,
  context: MediaContext,
  key: string,
  edits: boolean,
): Promise<Response> {
  const values = jsonFields(exchange);
  const request = readRequest(values, edits);
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, request.count, exchange, key);
  const blocked = invalid("The prompt was rejected by content moderation.", "prompt", "content_moderation");
  const immediate = playImmediateOutcome(outcome, immediateErrors(request.model, blocked));
  if (immediate !== undefined) return immediate;
  await takeTime(outcome, exchange);
  if (outcome === "fails") {
    // This host is known to report failures with status 200.
    const said = {
      status: 500,
      message: "The image could not be made.",
      type: "server_error",
      param: null,
      code: null,
    };
    return Response.json(inXAiWords(said));
  }
  const data: JsonObject[] = [];
  for (let at = 0; at < request.count; at += 1) data.push(await entry(request, at, outcome, context));
  const ticks = (MODELS[request.model]?.ticks ?? 0) * request.count;
  return Response.json({ data, usage: { cost_in_usd_ticks: ticks } });
}
