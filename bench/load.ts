/**
 * The clients, in a separate process so that their cost is not counted. `run.ts` sends one job at a time; a job fails if a
 * single response differs from what the upstream sent.
 */
import {
  DONE,
  EVENTS_AROUND_CONTENT,
  LARGE_REQUEST,
  SMALL_REQUEST,
  STREAM_REQUEST,
  UNARY_ANSWER_MARKS,
} from "./bodies.ts";
import { EventCounter } from "./event-counter.ts";
import { LAST_WORDS } from "./hosts/host-answers.ts";
import type { FirstByteJob, PlainJob, StreamJob, StreamsJob, TranslatedJob, UnaryJob } from "./load-control.ts";
import { RESPONSES_END, RESPONSES_EVENTS_AROUND, RESPONSES_REQUEST } from "./responses-bodies.ts";
import { ANSWER_MARKS, CHAT_TO_MESSAGES, type Pair, pathOf } from "./translated-pairs.ts";
import { translatedQuestion, translatedRequest } from "./translated-requests.ts";
import { STREAM_ENDS, streamPathOf, translatedStreamRequest } from "./translated-streams.ts";

const CHAT_PATH = "/api/v1/chat/completions";
/** How a stream of each dialect is requested, and what it contains in addition to its content. */
const STREAMS = {
  chat: { path: CHAT_PATH, body: STREAM_REQUEST, around: EVENTS_AROUND_CONTENT, ending: DONE },
  responses: {
    path: "/api/v1/responses",
    body: RESPONSES_REQUEST,
    around: RESPONSES_EVENTS_AROUND,
    ending: RESPONSES_END,
  },
} as const;
/** So many streams are opened at once, so that a backlog of connections is never what is measured. */
const OPENING_AT_ONCE = 50;

const headers = {
  "content-type": "application/json",
  authorization: `Bearer ${process.argv[2] ?? ""}`,
  // The version that the messages protocol asks for; the others do not look.
  "anthropic-version": "2023-06-01",
};

const PLAIN_BODIES: Readonly<Record<PlainJob["what"], Uint8Array>> = {
  small: SMALL_REQUEST,
  large: LARGE_REQUEST,
  translated: translatedRequest(CHAT_TO_MESSAGES),
  stream: STREAM_REQUEST,
};

const send = (url: string, body: Uint8Array, path: string = CHAT_PATH) =>
  fetch(url + path, { method: "POST", headers, body });

/** Runs `times` tasks, so many at once; the first failure ends them all. */
async function inParallel(times: number, atOnce: number, work: () => Promise<void>): Promise<void> {
  let begun = 0;
  const worker = async () => {
    while (begun < times) {
      begun += 1;
      try {
        await work();
      } catch (error) {
        begun = times;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, worker));
}

async function unaryCall(url: string, body: Uint8Array): Promise<void> {
  await expectAnswer(await send(url, body), (text) => UNARY_ANSWER_MARKS.every((mark) => text.includes(mark)));
}

async function translatedCall(url: string, pair: Pair): Promise<void> {
  const response = await send(url, translatedRequest(pair), pathOf(pair));
  await expectAnswer(response, (text) => ANSWER_MARKS[pair[0]].test(text));
}

async function longAnswerCall(url: string, pair: Pair): Promise<void> {
  const response = await send(url, translatedQuestion(pair), pathOf(pair));
  await expectAnswer(response, (text) => text.includes(LAST_WORDS) && ANSWER_MARKS[pair[0]].test(text));
}

async function expectAnswer(response: Response, isWhole: (text: string) => boolean): Promise<void> {
  const text = await response.text();
  if (response.status === 200 && isWhole(text)) return;
  throw new Error(`a response differed from what the upstream sent: ${response.status} ${text.slice(0, 300)}`);
}

/** Other gateways write answers anew: that an answer is whole is all that is asked of it. */
async function plainCall({ url, headers: own, what }: PlainJob): Promise<void> {
  const body = PLAIN_BODIES[what];
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers: { ...headers, ...own }, body });
  await expectAnswer(response, (text) =>
    what === "stream" ? text.trimEnd().endsWith(DONE.trimEnd()) : ANSWER_MARKS.chat.test(text),
  );
}

/** Yields what has arrived after each chunk; returns only at a proper end. */
async function* readStream(response: Response, ending: string | RegExp = DONE): AsyncGenerator<EventCounter> {
  const type = response.headers.get("content-type") ?? "none";
  if (response.status !== 200 || !response.body || !type.startsWith("text/event-stream")) {
    const text = await response.text();
    throw new Error(`a stream did not start: ${response.status}, content type ${type}, ${text.slice(0, 300)}`);
  }
  const counter = new EventCounter(ending);
  for await (const chunk of response.body) {
    counter.push(chunk);
    yield counter;
  }
  if (!counter.done)
    throw new Error(`a stream of ${counter.events} events ended with ${JSON.stringify(counter.end.slice(-300))}`);
}

async function streamCall({ url, dialect = "chat", contentChunks }: StreamJob): Promise<void> {
  const { path, body, around, ending } = STREAMS[dialect];
  let events = 0;
  for await (const counter of readStream(await send(url, body, path), ending)) events = counter.events;
  const expected = contentChunks + around;
  if (events !== expected) throw new Error(`a stream brought ${events} events instead of ${expected}`);
}

/** How many events the stream has depends on the pair. */
async function translatedStreamCall(url: string, pair: Pair, request: Uint8Array): Promise<void> {
  for await (const _ of readStream(await send(url, request, streamPathOf(pair)), STREAM_ENDS[pair[0]]));
}

/** Sends the request of a pair, or of native chat. */
function asker({ url, pair }: Pick<StreamsJob, "url" | "pair">): {
  ask: () => Promise<Response>;
  ending: string | RegExp;
} {
  if (pair === undefined) return { ask: () => send(url, STREAM_REQUEST), ending: DONE };
  const body = translatedStreamRequest(pair);
  const path = streamPathOf(pair);
  return { ask: () => send(url, body, path), ending: STREAM_ENDS[pair[0]] };
}

/** The first word of the answer in any protocol. */
const FIRST_WORD = /"(?:content|text|delta)": ?"The/;

/** Until a word of the answer is there, not only the beginning of the stream. */
async function firstContentMs({ ask, ending }: ReturnType<typeof asker>): Promise<number> {
  const startMs = performance.now();
  let contentMs: number | undefined;
  for await (const counter of readStream(await ask(), ending)) {
    const nowMs = performance.now();
    if (contentMs === undefined && FIRST_WORD.test(counter.end)) contentMs = nowMs - startMs;
  }
  if (contentMs === undefined) throw new Error("a stream had no content");
  return contentMs;
}

/** Streams that stay open while something is measured. */
class HeldStreams {
  events = 0;
  readonly #ask: () => Promise<Response>;
  readonly #ending: string | RegExp;
  #running: Promise<void>[] = [];

  constructor(job: StreamsJob) {
    const { ask, ending } = asker(job);
    this.#ask = ask;
    this.#ending = ending;
  }

  async open(streams: number): Promise<void> {
    await inParallel(streams, OPENING_AT_ONCE, () => {
      const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
      const running = this.#follow(resolve);
      running.catch(reject);
      this.#running.push(running);
      return opened;
    });
  }

  async #follow(opened: () => void): Promise<void> {
    let events = 0;
    for await (const counter of readStream(await this.#ask(), this.#ending)) {
      this.events += counter.events - events;
      events = counter.events;
      if (events > 1) opened();
    }
  }

  /** Resolves when the upstream has ended them all, with the events that came in all. */
  async ended(): Promise<number> {
    await Promise.all(this.#running);
    return this.events;
  }
}

let held: HeldStreams | undefined;

async function firstByteMs(url: string, body: Uint8Array): Promise<number> {
  const startMs = performance.now();
  const response = await send(url, body);
  let tookMs: number | undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body ?? []) {
    tookMs ??= performance.now() - startMs;
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  const whole = text.endsWith(DONE) || UNARY_ANSWER_MARKS.every((mark) => text.includes(mark));
  if (tookMs !== undefined && response.status === 200 && whole) return tookMs;
  throw new Error(`a response differed from what the upstream sent: ${response.status} ${text.slice(0, 300)}`);
}

/** All targets take turns, call by call, so that whatever disturbs the machine disturbs them alike. */
async function firstBytes({ targets, requests, stream }: FirstByteJob): Promise<number[][]> {
  const times: number[][] = targets.map(() => []);
  for (let round = 0; round < requests; round++) {
    for (const [index, url] of targets.entries()) {
      times[index]?.push(await firstByteMs(url, stream ? STREAM_REQUEST : SMALL_REQUEST));
    }
  }
  return times;
}

const JOBS: Record<string, (job: never) => Promise<unknown>> = {
  unary: ({ url, body, requests, atOnce }: UnaryJob) =>
    inParallel(requests, atOnce, () => unaryCall(url, body === "small" ? SMALL_REQUEST : LARGE_REQUEST)),
  plain: (job: PlainJob) => inParallel(job.requests, job.atOnce, () => plainCall(job)),
  translated: ({ url, pair, requests, atOnce }: TranslatedJob) =>
    inParallel(requests, atOnce, () => translatedCall(url, pair)),
  longAnswer: ({ url, pair, requests, atOnce }: TranslatedJob) =>
    inParallel(requests, atOnce, () => longAnswerCall(url, pair)),
  translatedStream: ({ url, pair, requests, atOnce }: TranslatedJob) => {
    const request = translatedStreamRequest(pair);
    return inParallel(requests, atOnce, () => translatedStreamCall(url, pair, request));
  },
  firstContents: (job: StreamsJob) => {
    const asking = asker(job);
    return Promise.all(Array.from({ length: job.streams }, () => firstContentMs(asking)));
  },
  stream: (job: StreamJob) => inParallel(job.streams, job.atOnce, () => streamCall(job)),
  hold: (job: StreamsJob) => {
    held = new HeldStreams(job);
    return held.open(job.streams);
  },
  held: async () => held?.events,
  ended: async () => held?.ended(),
  firstBytes,
};

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => {
    const job = JOBS[new URL(request.url).pathname.slice(1)];
    if (!job) return new Response("unknown job", { status: 404 });
    try {
      return Response.json((await job((await request.json()) as never)) ?? null);
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error), { status: 500 });
    }
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
