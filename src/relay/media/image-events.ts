import { GatewayError } from "../../canon/error.ts";
import { parseObject } from "../../canon/json.ts";
import type { Usage } from "../../canon/usage.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageResult, ImageSettings } from "../../media/image-reply.ts";
import type { Picture } from "../../media/picture.ts";
import { EventSplitter, readFrames } from "../../wire/sse.ts";
import { isSuccess, mediaOf, openMedia, readAnswer } from "./exchange.ts";
import { finishResult, gatherImages, type ImageGathering } from "./gather-images.ts";

/** One step of a streamed answer, ready to be shown. */
export type ImageStep =
  | { kind: "partial"; picture: Picture; settings?: ImageSettings }
  | { kind: "result"; result: ImageResult; settings?: ImageSettings; usage?: Usage }
  | { kind: "usage"; usage: Usage };

const MAX_STREAM_MS = 600_000;

/** The pictures of a call as they come: with those half made where the provider shows them, else all at their end. */
export async function* imageSteps(
  call: FittedImageCall,
  partialImages: number,
  gathering: ImageGathering,
): AsyncGenerator<ImageStep> {
  const { wire, upstreamModel } = gathering;
  const { perCall } = wire.abilities(upstreamModel);
  if (wire.stream?.serves(upstreamModel) && call.count <= perCall) {
    yield* streamedSteps({ ...call, partialImages }, wire.stream, gathering);
    return;
  }
  const { results, settings, usage } = await gatherImages(call, gathering);
  for (const result of results) yield { kind: "result", result, ...(settings === undefined ? {} : { settings }) };
  if (usage !== undefined) yield { kind: "usage", usage };
}

type StreamWire = NonNullable<ImageGathering["wire"]["stream"]>;

async function* streamedSteps(
  call: FittedImageCall & { partialImages: number },
  stream: StreamWire,
  gathering: ImageGathering,
): AsyncGenerator<ImageStep> {
  const { provider, wire, signal } = gathering;
  const context = mediaOf(provider).context(gathering.upstreamModel, gathering.jobName);
  const patience = { signal, timeoutMs: MAX_STREAM_MS };
  const response = await openMedia(provider, stream.submit(call, context), patience);
  const type = response.headers.get("content-type") ?? "";
  if (!isSuccess(response) || !type.startsWith("text/event-stream")) {
    const answer = await readAnswer(response, patience);
    throw isSuccess(answer)
      ? new GatewayError("upstream_failed", "The provider did not stream its answer.")
      : wire.error(answer);
  }
  let ended = false;
  for await (const event of eventsOf(response)) {
    const step = stream.read(event);
    if (step === undefined) continue;
    if (step.kind === "partial") {
      yield {
        kind: "partial",
        picture: step.picture,
        ...(step.settings === undefined ? {} : { settings: step.settings }),
      };
    } else if (step.kind === "result") {
      ended = true;
      const result = await finishResult(step.result, gathering);
      yield {
        kind: "result",
        result,
        ...(step.settings === undefined ? {} : { settings: step.settings }),
        ...(step.usage === undefined ? {} : { usage: step.usage }),
      };
    } else {
      ended = true;
      if (step.usage !== undefined) yield { kind: "usage", usage: step.usage };
    }
  }
  // A body that ends politely without a finished picture is a broken one (H16).
  if (!ended) throw new GatewayError("upstream_failed", "The provider closed the stream in the middle of its answer.");
}

async function* eventsOf(response: Response) {
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
    for await (const piece of response.body ?? []) yield* parse(splitter.push(piece));
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError("upstream_failed", "The connection to the provider broke.", { cause });
  }
  const rest = splitter.end();
  if (rest.trim() !== "") yield* parse(`${rest}\n\n`);
}
