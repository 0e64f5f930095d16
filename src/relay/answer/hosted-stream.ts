import { parseObject } from "../../base/json.ts";
import type { AskedImage, ImageOutcome } from "../../dialects/request/hosted-images.ts";
import { readFrames } from "../../wire/sse.ts";
import { readEvents } from "../attempt/read-events.ts";
import { makeHostedImage, previewHostedImage } from "../media/hosted-image.ts";
import { askAgain, type HostedRounds, keepHosted } from "./hosted-rounds.ts";
import { failureText, keepAliveDuring, streamTexts } from "./stream-texts.ts";

/** One stream out of the streams of all rounds. */
export const streamHosted = (first: Response, rounds: HostedRounds): ReadableStream =>
  streamTexts(writeRounds(first, rounds), rounds.work);

async function* writeRounds(first: Response, rounds: HostedRounds): AsyncGenerator<string, undefined> {
  const { answer, call, work } = rounds;
  try {
    yield* writeRound(first, rounds);
    work.passed(answer.said);
    while (answer.goOn()) {
      const next = askAgain(rounds);
      yield* keepAlive(next, rounds);
      yield* writeRound(await next, rounds);
      work.passed(answer.said);
    }
    const { answer: whole, event } = answer.finish();
    await keepHosted(call, whole);
    yield event;
  } catch (thrown) {
    yield failureText(thrown, call.incoming, answer.position);
  }
  return undefined;
}

async function* writeRound(round: Response, rounds: HostedRounds): AsyncGenerator<string, void> {
  for await (const text of readEvents(round)) yield shownOf(text, rounds);
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

const keepAlive = (made: Promise<unknown>, { work, call }: HostedRounds): AsyncGenerator<string, void> =>
  keepAliveDuring(made, call.incoming.dialect.http.keepAlive, work.gateway);
