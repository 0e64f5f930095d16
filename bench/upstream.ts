/**
 * The host that every contender stands in front of, in a process of its own: answers are encoded beforehand, so that it
 * is never what is measured. How it streams is set from outside (`POST /streams`), because the gateway passes none of a
 * client's headers on.
 */
import { CONTENT_CHUNKS, FIRST_CHUNK, STREAM_ENDING, STREAM_MARK, UNARY_ANSWER } from "./bodies.ts";
import { GENAI_STREAM, MESSAGES_STREAM, type StreamBytes } from "./other-streams.ts";
import { PacedStreams, type StreamSink } from "./paced-streams.ts";
import { RESPONSES_BEGINNING, responsesDelta, responsesEnding } from "./responses-bodies.ts";
import type { Burst, StreamPlan } from "./stream-plan.ts";
import { ANSWERS } from "./translated-pairs.ts";

/** As long as a small request: what the gateway writes may have the mark at its end. */
const HEAD_BYTES = 2 * 1024;
const decoder = new TextDecoder();

let burst: Burst = { burst: 1, between: "nothing" };
let paced: PacedStreams | undefined;

const json = (body: Uint8Array) => new Response(body, { headers: { "content-type": "application/json" } });

const isStreamed = (body: ArrayBuffer): boolean =>
  STREAM_MARK.test(decoder.decode(new Uint8Array(body).subarray(0, HEAD_BYTES)));

async function answer(request: Request): Promise<Response> {
  if (!isStreamed(await request.arrayBuffer())) return json(UNARY_ANSWER);
  const streams = paced;
  const body = new ReadableStream({
    type: "direct",
    pull: (sink: StreamSink) => {
      sink.write(FIRST_CHUNK);
      sink.flush();
      return streams ? streams.join(sink, request.signal) : sendBurst(sink, burst, contentChunk, STREAM_ENDING);
    },
  } as unknown as ConstructorParameters<typeof ReadableStream>[0]);
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const contentChunk = (index: number): Uint8Array => CONTENT_CHUNKS[index % CONTENT_CHUNKS.length] ?? STREAM_ENDING;

const encoder = new TextEncoder();

/** Gives one answer, whole or as a stream, whatever is asked. */
function always(whole: object, stream: StreamBytes): (request: Request) => Promise<Response> {
  const body = encoder.encode(JSON.stringify(whole));
  return async (request) => {
    const asked = await request.arrayBuffer();
    return isStreamed(asked) || request.url.includes(":stream") ? streamed(stream) : json(body);
  };
}

function streamed({ beginning, content, ending }: StreamBytes): Response {
  const body = new ReadableStream({
    type: "direct",
    pull: (sink: StreamSink) => {
      if (beginning.length > 0) sink.write(beginning);
      return sendBurst(sink, burst, (index) => content[index % content.length] ?? ending, ending);
    },
  } as unknown as ConstructorParameters<typeof ReadableStream>[0]);
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const answerMessages = always(ANSWERS.messages, MESSAGES_STREAM);
const answerGenai = always(ANSWERS.genai, GENAI_STREAM);
const wholeResponse = encoder.encode(JSON.stringify(ANSWERS.responses));

async function answerResponses(request: Request): Promise<Response> {
  if (!isStreamed(await request.arrayBuffer())) return json(wholeResponse);
  const body = new ReadableStream({
    type: "direct",
    pull: (sink: StreamSink) => {
      sink.write(RESPONSES_BEGINNING);
      sink.flush();
      return sendBurst(sink, burst, responsesDelta, responsesEnding(burst.burst));
    },
  } as unknown as ConstructorParameters<typeof ReadableStream>[0]);
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function sendBurst(
  sink: StreamSink,
  { burst: length, between }: Burst,
  chunkAt: (index: number) => Uint8Array,
  ending: Uint8Array,
): Promise<void> {
  for (let index = 0; index < length; index++) {
    sink.write(chunkAt(index));
    const flushed = sink.flush();
    if (flushed instanceof Promise) await flushed;
    // What is flushed within one turn of the event loop leaves in one write.
    if (between === "turn") await nextTurn();
    else if (between !== "nothing") await Bun.sleep(between);
  }
  sink.write(ending);
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function setPlan(request: Request): Promise<Response> {
  const plan = (await request.json()) as StreamPlan;
  paced?.finish();
  paced = "chunksPerSecond" in plan ? new PacedStreams(plan.chunksPerSecond) : undefined;
  if ("burst" in plan) burst = plan;
  return Response.json(null);
}

function finish(): Response {
  const contentChunks = paced?.finish() ?? 0;
  paced = undefined;
  return Response.json(contentChunks);
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  routes: {
    "/v1/chat/completions": { POST: answer },
    "/api/v1/chat/completions": { POST: answer },
    "/v1/responses": { POST: answerResponses },
    "/api/v1/responses": { POST: answerResponses },
    "/v1/messages": { POST: answerMessages },
    "/api/msg/v1/messages": { POST: answerMessages },
    "/v1/models/*": { POST: answerGenai },
    "/api/genai/*": { POST: answerGenai },
    "/streams": { POST: setPlan },
    "/finish": { POST: finish },
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
