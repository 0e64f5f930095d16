import { GatewayError } from "../../canon/error.ts";
import { parseObject } from "../../canon/json.ts";
import type { Usage } from "../../canon/usage.ts";
import { mostPerCall } from "../../media/fit-image-call.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageReply, ImageResult, ImageSettings } from "../../media/image-reply.ts";
import type { Picture } from "../../media/picture.ts";
import { EventSplitter, readFrames } from "../../wire/sse.ts";
import { isSuccess, mediaOf, openMedia, readAnswer } from "./exchange.ts";
import { finishResult, gatherImages, type ImageGathering, missingPictures } from "./gather-images.ts";

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
  const most = mostPerCall(call, wire.abilities(upstreamModel));
  if (wire.stream?.serves(upstreamModel) && call.count <= most) {
    yield* streamedSteps({ ...call, partialImages }, wire.stream, gathering);
    return;
  }
  yield* wholeSteps(await gatherImages(call, gathering));
}

function* wholeSteps({ results, settings, usage }: ImageReply): Generator<ImageStep> {
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
  if (!isSuccess(response)) throw wire.error(await readAnswer(response, patience));
  if (!type.startsWith("text/event-stream")) {
    // Not streamed, but made and paid for: asking again would cost a second time.
    const state = wire.readSubmit(await readAnswer(response, patience), call, context);
    if (state.state !== "done") throw new GatewayError("upstream_failed", "The provider did not stream its answer.");
    const results = await Promise.all(state.reply.results.map((result) => finishResult(result, gathering)));
    yield* wholeSteps({ ...state.reply, results });
    return;
  }
  let ended = false;
  let results = 0;
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
      results++;
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
  for (const result of missingPictures(call.count - results)) yield { kind: "result", result };
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
