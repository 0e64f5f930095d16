import { withoutAbsent } from "../../src/base/without-absent.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import type { VideoModel } from "./crash-harness.ts";

/** One submit, which its client repeats until it has the operation's name, and polls until it has ended. */
export interface VideoOrder {
  number: number;
  video: VideoModel;
  count: number;
  idempotencyKey?: string;
}

export interface VideoOutcome {
  order: VideoOrder;
  /** Every name that was received; the last one has the videos. */
  names: string[];
  /** The URLs of the videos. */
  videos: string[];
  /** Videos that were not made, because a gateway was killed while it submitted them. */
  lost: number;
}

const STOPPED =
  "The gateway was stopped while it was submitting this video. Submit it again, with a new Idempotency-Key if it had one.";
const TIMEOUT_MS = 60_000;
const PAUSE_MS = 100;

interface OperationAnswer {
  name?: string;
  done?: boolean;
  metadata?: { failures?: { message: string }[] };
  response?: { videos: { gcsUri: string }[] };
  error?: { message: string };
}

/** `urlOf`: the gateway for this request, which is repeated if no gateway answers. */
export async function orderVideos(ordered: VideoOrder, urlOf: () => string): Promise<VideoOutcome> {
  let order = ordered;
  const names: string[] = [];
  const giveUpAtMs = performance.now() + TIMEOUT_MS;
  for (;;) {
    const { name = "" } = await ask(order, "predictLongRunning", textOf(order), urlOf, giveUpAtMs);
    names.push(name);
    const answered = await awaitEnd(order, name, urlOf, giveUpAtMs);
    if (answered.error?.message === STOPPED) {
      if (order.idempotencyKey !== undefined) order = { ...order, idempotencyKey: `${order.idempotencyKey}-again` };
      continue;
    }
    if (answered.error) throw new Error(`order ${order.number} failed: ${answered.error.message}`);
    const failures = answered.metadata?.failures ?? [];
    const other = failures.find(({ message }) => message !== STOPPED);
    if (other) throw new Error(`a video of order ${order.number} failed: ${other.message}`);
    return { order, names, videos: answered.response?.videos.map(({ gcsUri }) => gcsUri) ?? [], lost: failures.length };
  }
}

/** The same submit again: with its key it must get the same name, whatever has happened since. */
export async function repeatOrder({ order, names }: VideoOutcome, url: string): Promise<boolean> {
  const { name } = await ask(order, "predictLongRunning", textOf(order), () => url, performance.now() + TIMEOUT_MS);
  return name === names.at(-1);
}

/** The prompts differ, so that no submit counts as another's repetition; the video is the same, so that it is encoded once. */
function textOf({ number, video, count }: VideoOrder): string {
  const parameters = {
    sampleCount: count,
    durationSeconds: video.seconds,
    resolution: video.id.startsWith("volcengine") ? "480p" : "720p",
    generateAudio: video.audio,
  };
  return JSON.stringify({ instances: [{ prompt: "a fox" }], parameters }) + " ".repeat(number);
}

async function awaitEnd(
  order: VideoOrder,
  name: string,
  urlOf: () => string,
  giveUpAtMs: number,
): Promise<OperationAnswer> {
  for (;;) {
    const body = JSON.stringify({ operationName: name });
    const answered = await ask(order, "fetchPredictOperation", body, urlOf, giveUpAtMs);
    if (answered.done) return answered;
    await Bun.sleep(PAUSE_MS);
  }
}

async function ask(
  { video, idempotencyKey }: VideoOrder,
  verb: string,
  body: string,
  urlOf: () => string,
  giveUpAtMs: number,
): Promise<OperationAnswer> {
  const [publisher, model] = video.id.split("/");
  const headers = withoutAbsent({
    authorization: `Bearer ${TEST_KEY}`,
    "content-type": "application/json",
    "idempotency-key": idempotencyKey,
  });
  while (performance.now() < giveUpAtMs) {
    const url = `${urlOf()}/api/genai/v1/publishers/${publisher}/models/${model}:${verb}`;
    const answer = await fetch(url, { method: "POST", headers, body, keepalive: false })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => undefined);
    if (answer?.status === 200) return JSON.parse(answer.text) as OperationAnswer;
    // No gateway listens, or another process still holds the same submit.
    if (answer !== undefined && answer.status !== 429) throw new Error(`${verb}: ${answer.status} ${answer.text}`);
    await Bun.sleep(PAUSE_MS);
  }
  throw new Error(`${verb} of ${video.id} was not answered in time`);
}
