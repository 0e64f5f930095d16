import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { isHeldBack, playImmediateOutcome, waitFor } from "../../../media/play-outcome.ts";
import { publishImage } from "../../../media/publish.ts";
import { bodyOf, dashscopeError, HELD_BACK, IMMEDIATE_ERRORS } from "../errors.ts";
import { type ImagesRequest, readImages } from "./read-images.ts";

export const KEPT_MS = 24 * 3_600_000;

/** The link of each image; undefined where it is held back. */
export function linksOf(
  request: ImagesRequest,
  outcome: Outcome | undefined,
  context: MediaContext,
): (string | undefined)[] {
  return Array.from({ length: request.count }, (_, index) => {
    if (isHeldBack(outcome, index)) return undefined;
    const image = {
      prompt: request.prompt,
      ...request.size,
      seed: request.seed + index,
      format: "png",
      inputs: request.inputs,
      note: request.watermark ? `${request.model} WATERMARK` : request.model,
    } as const;
    return publishImage(context, image, { outcome, keptMs: KEPT_MS });
  });
}

export function choicesOf(links: readonly string[], spread: ImagesRequest["spread"]): JsonObject[] {
  const choice = (content: JsonObject[]): JsonObject => ({
    finish_reason: "stop",
    message: { role: "assistant", content },
  });
  if (spread === "choices") return links.map((image) => choice([{ image, type: "image" }]));
  return [choice(links.map((image) => ({ image })))];
}

export function usageOf({ size, spread }: ImagesRequest, count: number): JsonObject {
  const { width, height } = size;
  if (spread === "contents") return { image_count: count, width, height };
  return { image_count: count, size: `${width}*${height}`, input_tokens: 0, output_tokens: 0, total_tokens: 0 };
}

/** Answers while the caller waits. */
export async function generateImages(exchange: Exchange, context: MediaContext, key: string): Promise<Response> {
  if (exchange.headers.get("x-dashscope-async") === "enable") {
    throw dashscopeError(403, "AccessDenied", "current user api does not support asynchronous calls.");
  }
  const request = readImages(bodyOf(exchange), "sync");
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, request.count, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const job = context.jobs.create({ id: crypto.randomUUID(), host: "qwen images", key, request, outcome });
  await waitFor(job, context, exchange.signal);
  if (outcome === "fails") throw IMMEDIATE_ERRORS.broken;
  const links = linksOf(request, outcome, context).filter((link) => link !== undefined);
  if (links.length === 0) throw dashscopeError(400, HELD_BACK.code, HELD_BACK.message);
  return Response.json({
    output: { choices: choicesOf(links, request.spread) },
    usage: usageOf(request, links.length),
    request_id: job.id,
  });
}
