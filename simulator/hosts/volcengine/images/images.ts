import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { isHeldBack, playImmediateOutcome, waitFor } from "../../../media/play-outcome.ts";
import { encodeImage, publishImage } from "../../../media/publish.ts";
import { StreamedAnswer } from "../../../media/streamed-answer.ts";
import type { ImageOptions } from "../../../media-maker/paint-image.ts";
import { arkError, bodyOf, IMMEDIATE_ERRORS } from "../errors.ts";
import { readImages, type SeedreamRequest } from "./read-images.ts";

const KEPT_MS = 24 * 3_600_000;
const HELD_BACK = {
  code: "OutputImageSensitiveContentDetected",
  message: "The request failed because the output image may contain sensitive information.",
};

interface Batch {
  request: SeedreamRequest;
  outcome: Outcome | undefined;
  context: MediaContext;
  createdAt: number;
}

async function imageAt({ request, outcome, context }: Batch, index: number): Promise<JsonObject> {
  const image: ImageOptions = {
    prompt: request.prompt,
    ...request.size,
    seed: request.seed + index,
    format: request.format,
    inputs: request.inputs,
    note: request.watermark ? `${request.model} WATERMARK` : request.model,
  };
  const size = `${request.size.width}x${request.size.height}`;
  if (request.encoded) return { b64_json: await encodeImage(image), size };
  return { url: publishImage(context, image, { outcome, keptMs: KEPT_MS }), size };
}

function usageOf({ request, outcome }: Batch): JsonObject {
  const { count, size, inputs, searches } = request;
  const made = Array.from({ length: count }, (_, index) => index).filter((index) => !isHeldBack(outcome, index)).length;
  const tokens = made * Math.floor((size.width * size.height) / 256);
  return {
    generated_images: made,
    output_tokens: tokens,
    total_tokens: tokens,
    ...(inputs === 0 ? {} : { input_images: inputs }),
    ...(searches ? { tool_usage: { web_search: 1 } } : {}),
  };
}

async function wholeAnswer(batch: Batch): Promise<Response> {
  const { request, outcome, createdAt } = batch;
  if (outcome === "fails") throw IMMEDIATE_ERRORS.broken;
  const data: JsonObject[] = [];
  for (let index = 0; index < request.count; index += 1) {
    data.push(isHeldBack(outcome, index) ? { error: HELD_BACK } : await imageAt(batch, index));
  }
  // The whole request is an error only if no image was made.
  if (data.every((item) => item["error"] !== undefined)) throw arkError(400, HELD_BACK.code, HELD_BACK.message);
  return Response.json({ model: request.model, created: createdAt, data, usage: usageOf(batch) });
}

async function* events(batch: Batch): AsyncGenerator<JsonObject> {
  const { request, outcome, createdAt } = batch;
  if (outcome === "fails") {
    yield { type: "error", error: { code: "InternalServiceError", message: "The service failed at the image." } };
    return;
  }
  const envelope = { model: request.model, created: createdAt };
  for (let index = 0; index < request.count; index += 1) {
    yield isHeldBack(outcome, index)
      ? { type: "image_generation.partial_failed", ...envelope, image_index: index, error: HELD_BACK }
      : {
          type: "image_generation.partial_succeeded",
          ...envelope,
          image_index: index,
          ...(await imageAt(batch, index)),
        };
  }
  yield { type: "image_generation.completed", ...envelope, usage: usageOf(batch) };
}

async function* frames(batch: Batch): AsyncGenerator<string> {
  for await (const event of events(batch)) yield `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
  yield "data: [DONE]\n\n";
}

/** The headers leave with the first image, not before. */
async function streamedAnswer(exchange: Exchange, batch: Batch): Promise<Response> {
  const source = frames(batch);
  const first = await source.next();
  async function* chunks(): AsyncGenerator<string> {
    if (!first.done) yield first.value;
    yield* source;
  }
  return new StreamedAnswer(exchange, "text/event-stream; charset=utf-8", chunks());
}

export async function generateImages(exchange: Exchange, context: MediaContext, key: string): Promise<Response> {
  const request = readImages(bodyOf(exchange));
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, request.count, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const job = context.jobs.create({ id: crypto.randomUUID(), host: "volcengine images", key, request, outcome });
  const batch = { request, outcome, context, createdAt: Math.floor(job.createdAtMs / 1000) };
  await waitFor(job, context, exchange.signal);
  return request.stream ? streamedAnswer(exchange, batch) : wholeAnswer(batch);
}
