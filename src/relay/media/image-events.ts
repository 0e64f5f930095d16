import { parseObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Usage } from "../../canon/usage.ts";
import type { ImageAdapter } from "../../media/adapter.ts";
import { maxPerCall } from "../../media/fit-image-call.ts";
import type { InlineImage } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageReply, ImageResult, ImageSettings } from "../../media/image-reply.ts";
import { EventSplitter, readFrames } from "../../wire/sse.ts";
import { isSuccess, type ProviderExchange, readAnswer } from "../attempt/provider-exchange.ts";
import { collectImages, finishResult, type ImageBatch, missingImages, withRealSize } from "./collect-images.ts";
import { mediaOf, openMedia } from "./exchange.ts";

/** One step of a streamed answer, ready for the client. */
export type ImageStep =
  | { kind: "partial"; image: InlineImage; settings?: ImageSettings }
  | { kind: "result"; result: ImageResult; settings?: ImageSettings; usage?: Usage }
  | { kind: "usage"; usage: Usage };

const MAX_STREAM_MS = 600_000;

/** The images of a call as they arrive: with partial images if the provider streams them, otherwise all at the end. */
export async function* imageSteps(
  call: FittedImageCall,
  partialImages: number,
  batch: ImageBatch,
): AsyncGenerator<ImageStep> {
  const stream = streamFor(call, batch.adapter, batch.upstreamModel);
  if (stream === undefined) yield* wholeSteps(await collectImages(call, batch));
  else yield* streamedSteps({ ...call, partialImages }, stream, batch);
}

/** The provider's stream, if one stream can carry all images of the call. */
export function streamFor(call: FittedImageCall, adapter: ImageAdapter, model: string): StreamAdapter | undefined {
  const { stream } = adapter;
  return stream?.serves(model) && call.count <= maxPerCall(call, adapter.capabilities(model)) ? stream : undefined;
}

async function* wholeSteps({ results, settings, usage }: ImageReply): AsyncGenerator<ImageStep> {
  for (const result of results) yield await resultStep(result, settings);
  if (usage !== undefined) yield { kind: "usage", usage };
}

/** An image with its real size. */
async function resultStep(result: ImageResult, reported?: ImageSettings): Promise<ResultStep> {
  const settings = await withRealSize(reported, result);
  return { kind: "result", result, ...(settings === undefined ? {} : { settings }) };
}

type ResultStep = Extract<ImageStep, { kind: "result" }>;
type StreamAdapter = NonNullable<ImageAdapter["stream"]>;

async function* streamedSteps(
  call: FittedImageCall & { partialImages: number },
  stream: StreamAdapter,
  batch: ImageBatch,
): AsyncGenerator<ImageStep> {
  const { clock, send, provider, adapter, signal, traceLines } = batch;
  const context = mediaOf(provider).context(batch.upstreamModel, batch.jobName);
  const options = { clock, send, signal, timeoutMs: MAX_STREAM_MS, traceLines, capture: batch.capture?.() };
  const request = stream.submit(call, context);
  batch.begin(call.count);
  const exchange = await openMedia(provider, request, options);
  const type = exchange.headers.get("content-type") ?? "";
  if (!isSuccess(exchange)) throw adapter.error(await readAnswer(exchange, options));
  if (!type.startsWith("text/event-stream")) {
    // Not streamed, but generated and billed: a retry would be billed again.
    const state = adapter.readSubmit(await readAnswer(exchange, options), call, context);
    if (state.state !== "done") throw new GatewayError("upstream_failed", "The provider did not stream its response.");
    const results = await Promise.all(state.reply.results.map((result) => finishResult(result, batch)));
    yield* wholeSteps({ ...state.reply, results });
    return;
  }
  let ended = false;
  let results = 0;
  for await (const event of eventsOf(exchange)) {
    const step = stream.read(event);
    if (step === undefined) continue;
    if (step.kind === "partial") {
      yield withoutAbsent({ kind: "partial" as const, image: step.image, settings: step.settings });
    } else if (step.kind === "result") {
      ended = true;
      results++;
      const result = await resultStep(await finishResult(step.result, batch), step.settings);
      yield withoutAbsent({ ...result, usage: step.usage });
    } else {
      ended = true;
      if (step.usage !== undefined) yield { kind: "usage", usage: step.usage };
    }
  }
  // A body that ends without a finished image is broken, even if it ends cleanly (H16).
  if (!ended)
    throw new GatewayError("upstream_failed", "The provider closed the stream in the middle of its response.");
  for (const result of missingImages(call.count - results)) yield { kind: "result", result };
}

async function* eventsOf(exchange: ProviderExchange) {
  const splitter = new EventSplitter(512 * 1024 * 1024);
  const parse = function* (text: string) {
    for (const { data } of readFrames(text)) {
      if (data === undefined || data === "[DONE]") continue;
      const event = parseObject(data);
      if (event === undefined)
        throw new GatewayError("upstream_failed", "The provider sent an event that is not JSON.");
      yield event;
    }
  };
  try {
    for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) yield* parse(splitter.push(chunk));
  } finally {
    exchange.close();
  }
  const rest = splitter.end();
  if (rest.trim() !== "") yield* parse(`${rest}\n\n`);
}
