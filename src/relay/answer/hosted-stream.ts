import { parseObject } from "../../base/json.ts";
import { asGatewayError } from "../../canon/error.ts";
import type { AskedImage, ImageOutcome } from "../../dialects/request/hosted-images.ts";
import { readFrames } from "../../wire/sse.ts";
import { readEvents } from "../attempt/read-events.ts";
import type { Gateway } from "../gateway.ts";
import { makeHostedImage, previewHostedImage } from "../media/hosted-image.ts";
import { askAgain, type HostedRounds, keepHosted } from "./hosted-rounds.ts";
import { RelayError } from "./relay-error.ts";

interface Ending {
  /** Ends the calls that run when the client disconnects. */
  controller: AbortController;
  release: () => void;
}

/** One stream out of the streams of all rounds. */
export function streamHosted(first: Response, rounds: HostedRounds, { controller, release }: Ending): ReadableStream {
  const texts = writeRounds(first, rounds);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (output) => {
      const { done, value } = await texts.next();
      if (value) output.enqueue(encoder.encode(value));
      if (!done) return;
      release();
      output.close();
    },
    cancel: async () => {
      controller.abort();
      release();
      await texts.return(undefined);
    },
  });
}

async function* writeRounds(first: Response, rounds: HostedRounds): AsyncGenerator<string, undefined> {
  const { answer, call } = rounds;
  try {
    yield* writeRound(first, rounds);
    while (answer.goOn()) {
      const next = askAgain(rounds);
      yield* keepAlive(next, rounds);
      yield* writeRound(await next, rounds);
    }
    const { answer: whole, event } = answer.finish();
    await keepHosted(call, whole);
    yield event;
  } catch (thrown) {
    for (const { text } of failureOf(thrown, rounds)) yield text;
  }
  return undefined;
}

async function* writeRound(round: Response, rounds: HostedRounds): AsyncGenerator<string, void> {
  for await (const text of readEvents(round)) {
    const shown = shownOf(text, rounds);
    if (shown !== "") yield shown;
  }
  for (const asked of rounds.answer.asked) yield* writeImage(asked, rounds);
}

/** Comments are passed on, because they keep the connection alive. */
function shownOf(text: string, { answer }: HostedRounds): string {
  return readFrames(text)
    .map(({ raw, data }) => {
      const event = data === undefined ? undefined : parseObject(data);
      return event === undefined ? raw : answer.takeEvent(event);
    })
    .join("");
}

async function* writeImage(asked: AskedImage, rounds: HostedRounds): AsyncGenerator<string, void> {
  const { answer, tool } = rounds;
  yield answer.beginImage(asked);
  if (tool.previews === 0) {
    const made = makeHostedImage(asked, rounds);
    yield* keepAlive(made, rounds);
    yield answer.endImage(asked, await made);
    return;
  }
  const previews = previewHostedImage(asked, rounds);
  let outcome: ImageOutcome | undefined;
  while (outcome === undefined) {
    const next = previews.next();
    yield* keepAlive(next, rounds);
    const { done, value } = await next;
    if (done) outcome = value;
    else yield answer.previewImage(asked, value.preview);
  }
  yield answer.endImage(asked, outcome);
}

/** Sends keep-alive comments until the work is done. */
async function* keepAlive(work: Promise<unknown>, { gateway, incoming }: HostedRounds): AsyncGenerator<string, void> {
  const { keepAlive: comment } = incoming.dialect.http;
  const settled = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([settled, pause(gateway)]))) if (comment !== undefined) yield comment;
}

function pause({ clock, timings }: Gateway): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  clock.after(timings.keepAliveMs, () => resolve(false));
  return promise;
}

function failureOf(thrown: unknown, { answer, incoming }: HostedRounds) {
  const error = asGatewayError(thrown instanceof RelayError ? thrown.error : thrown);
  const { dialect, options, requestId } = incoming;
  return dialect.errors.encodeInStream(error, requestId, { options, begun: true, position: answer.position });
}
