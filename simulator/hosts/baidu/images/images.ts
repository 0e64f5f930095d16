import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { givenImage } from "../../../media/given-image.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { playImmediateOutcome, takeTime } from "../../../media/play-outcome.ts";
import { encodeImage, publishImage } from "../../../media/publish.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { immediateErrors } from "../../openai/immediate-errors.ts";
import { jsonFields, refuseUnknown } from "../../openai/request-fields.ts";
import { optionalBoolean, optionalEnum, optionalNumber, requireString } from "../../openai/text/check.ts";
import { invalid, modelNotFound, openaiFailure } from "../../openai/text/errors.ts";
import type { ImageService } from "./services.ts";

interface ImageRequest {
  model: string;
  prompt: string;
  count: number;
  measures: ImageSize;
  seed: number;
  asLink: boolean;
  inputs: number;
}

const MAX_SEED = 2 ** 32 - 1;
const LINK_KEPT_MS = 24 * 3_600_000;

function promptOf(values: JsonObject, maxCharacters: number): string {
  const prompt = requireString(values.prompt, "prompt");
  const { length } = [...prompt];
  if (length === 0 || length > maxCharacters) {
    throw invalid(`prompt must have 1 to ${maxCharacters} characters, not ${length}.`, "prompt", null);
  }
  return prompt;
}

function countInputs(values: JsonObject): number {
  const given = Array.isArray(values.image) ? values.image : [values.image];
  for (const one of given) {
    if (givenImage(requireString(one, "image"), ["data URL", "bare base64"]) === undefined) {
      throw invalid("image is neither the URL of an image nor one in base64.", "image", null);
    }
  }
  return given.length;
}

function measuresOf(values: JsonObject, service: ImageService): ImageSize {
  const size = values.size === undefined ? service.ownSize : requireString(values.size, "size");
  const measures = service.measures(size);
  if (measures === undefined) throw invalid(`size '${size}' is not supported.`, "size", null);
  return measures;
}

function readRequest(values: JsonObject, service: ImageService): ImageRequest {
  const model = requireString(values.model, "model");
  if (!service.model.test(model)) throw modelNotFound(model);
  refuseUnknown(Object.keys(values), ["model", "prompt", ...service.fields]);
  for (const name of ["watermark", "prompt_extend"]) optionalBoolean(values, name);
  optionalNumber(values, "steps", [1, 100], true);
  optionalNumber(values, "guidance", [0, 30]);
  if (values.negative_prompt !== undefined) requireString(values.negative_prompt, "negative_prompt");
  const prompt = promptOf(values, service.maxCharacters);
  return {
    model,
    prompt,
    count: optionalNumber(values, "n", [1, service.maxImages], true) ?? 1,
    measures: measuresOf(values, service),
    seed: optionalNumber(values, "seed", [0, MAX_SEED], true) ?? seedOf(prompt),
    asLink: (optionalEnum(values, "response_format", ["url", "b64_json"]) ?? "url") === "url",
    inputs: service.takesImages ? countInputs(values) : 0,
  };
}

async function entry(
  request: ImageRequest,
  at: number,
  outcome: Outcome | undefined,
  context: MediaContext,
): Promise<JsonObject> {
  const { prompt, measures, inputs, model } = request;
  const seed = (request.seed + at) % (MAX_SEED + 1);
  const image = { prompt, ...measures, seed, format: "png", inputs, note: model } as const;
  if (!request.asLink) return { b64_json: await encodeImage(image) };
  return { url: publishImage(context, image, { outcome, keptMs: LINK_KEPT_MS }) };
}

export async function makeImages(
  exchange: Exchange,
  context: MediaContext,
  key: string,
  service: ImageService,
): Promise<Response> {
  const request = readRequest(jsonFields(exchange), service);
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, request.count, exchange, key);
  const refused = (what: string) => invalid(`${what} holds content that is not allowed.`, "prompt", "content_filter");
  const immediate = playImmediateOutcome(outcome, immediateErrors(request.model, refused("The prompt")));
  if (immediate !== undefined) return immediate;
  await takeTime(outcome, exchange);
  if (outcome === "fails") throw openaiFailure("500", request.model);
  if (outcome === "moderated") throw refused("The image");
  const count = outcome === "one-fails" ? request.count - 1 : request.count;
  const data: JsonObject[] = [];
  for (let at = 0; at < count; at += 1) data.push(await entry(request, at, outcome, context));
  const id = `as-${crypto.randomUUID().replaceAll("-", "").slice(0, 10)}`;
  return Response.json({ id, created: Math.floor(context.nowMs() / 1_000), data });
}
