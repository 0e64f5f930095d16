import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { parseDrawable } from "../../../media/image-size.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { playImmediateOutcome, takeTime } from "../../../media/play-outcome.ts";
import { publishImage } from "../../../media/publish.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { immediateErrors } from "../../openai/immediate-errors.ts";
import { jsonFields, refuseUnknown } from "../../openai/request-fields.ts";
import { badValue, optionalEnum, requireString } from "../../openai/text/check.ts";
import { invalid, modelNotFound, openaiFailure } from "../../openai/text/errors.ts";
import { checkShared, contentRefused, requestIdOf, SHARED_FIELDS } from "../shared-fields.ts";
import { LINK_KEPT_MS, type Task, takeTask } from "../tasks.ts";

interface ImageModel {
  qualities: readonly string[];
  sizes: readonly string[];
  /** Other sizes have sides between these, in such steps. */
  min: number;
  step: number;
  /** Can be had in the background too. */
  async: boolean;
}

const MAX_SIDE = 2_048;
const GLM: ImageModel = {
  qualities: ["hd"],
  sizes: ["1280x1280", "1568x1056", "1056x1568", "1472x1088", "1088x1472", "1728x960", "960x1728"],
  min: 1_024,
  step: 32,
  async: true,
};
const COGVIEW: ImageModel = {
  qualities: ["standard", "hd"],
  sizes: ["1024x1024", "768x1344", "864x1152", "1344x768", "1152x864", "1440x720", "720x1440"],
  min: 512,
  step: 16,
  async: false,
};
const MODELS: Readonly<Record<string, ImageModel>> = {
  "glm-image": GLM,
  "cogview-4-250304": COGVIEW,
  "cogview-4": COGVIEW,
  standard: { ...COGVIEW, async: true },
};

interface ImageRequest {
  model: string;
  prompt: string;
  measures: ImageSize;
}

function measuresOf(size: string, model: ImageModel): ImageSize {
  const measures = parseDrawable(size, "x");
  if (measures === undefined) throw badValue(size, model.sizes, "size");
  const fits = (side: number): boolean => side >= model.min && side <= MAX_SIDE && side % model.step === 0;
  const free = fits(measures.width) && fits(measures.height);
  if (!free && !model.sizes.includes(size)) throw badValue(size, model.sizes, "size");
  return measures;
}

function readRequest(values: JsonObject, background: boolean): ImageRequest {
  const name = requireString(values.model, "model");
  const model = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (model === undefined) throw modelNotFound(name);
  if (background && !model.async) throw invalid(`${name} cannot be called asynchronously.`, "model", "invalid_value");
  refuseUnknown(Object.keys(values), [...SHARED_FIELDS, "quality", "size"]);
  checkShared(values);
  optionalEnum(values, "quality", model.qualities);
  const prompt = requireString(values.prompt, "prompt");
  if (prompt === "") throw invalid("prompt must not be empty.", "prompt", "invalid_value");
  const size = values.size === undefined ? (model.sizes[0] ?? "") : requireString(values.size, "size");
  return { model: name, prompt, measures: measuresOf(size, model) };
}

function publish(request: ImageRequest, outcome: Outcome | undefined, context: MediaContext): string {
  const { prompt, measures, model } = request;
  const image = { prompt, ...measures, seed: seedOf(prompt), format: "png", note: model } as const;
  return publishImage(context, image, { outcome, keptMs: LINK_KEPT_MS });
}

/** 0 is the most severe: there is no image. */
const filtered = (level: number): JsonObject[] => [{ role: "assistant", level }];

/** One image, synchronously or in the background. */
export async function makeImage(
  exchange: Exchange,
  context: MediaContext,
  key: string,
  background: boolean,
): Promise<Response> {
  const values = jsonFields(exchange);
  const request = readRequest(values, background);
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, immediateErrors(request.model, contentRefused()));
  if (immediate !== undefined) return immediate;
  if (background) {
    const task: Task = {
      model: request.model,
      requestId: requestIdOf(values),
      result: () => ({ image_result: [{ url: publish(request, outcome, context) }] }),
      heldBack: { content_filter: filtered(0) },
    };
    return takeTask(task, outcome, context, key);
  }
  await takeTime(outcome, exchange);
  if (outcome === "fails") throw openaiFailure("500", request.model);
  const heldBack = outcome === "moderated";
  return Response.json({
    created: Math.floor(context.nowMs() / 1_000),
    data: heldBack ? [] : [{ url: publish(request, outcome, context) }],
    content_filter: filtered(heldBack ? 0 : 3),
  });
}
