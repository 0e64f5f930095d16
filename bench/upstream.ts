/**
 * The host behind every contender, in a separate process. Responses are encoded in advance, so that it is never what is
 * measured. How it streams is set with `POST /streams`, and what it answers whole with `POST /answers`, because the gateway does not forward client headers.
 */
import { MODEL, STREAM_MARK } from "./bodies.ts";
import { type AnswerKind, hostAnswers } from "./hosts/host-answers.ts";
import { HOST_STREAMS, type HostStream } from "./hosts/host-streams.ts";
import { PacedStreams, type StreamSink } from "./paced-streams.ts";
import type { Burst, StreamPlan } from "./stream-plan.ts";
import type { BenchDialect } from "./translated-pairs.ts";

/** As long as a small request: what the gateway writes may have the mark at its end. */
const HEAD_BYTES = 2 * 1024;
const NOTHING = new Uint8Array();
const decoder = new TextDecoder();

let burst: Burst = { burst: 1, between: "nothing" };
let paced: PacedStreams | undefined;
let kind: AnswerKind = "short";

const json = (body: Uint8Array) => new Response(body, { headers: { "content-type": "application/json" } });

const isStreamed = (body: ArrayBuffer): boolean =>
  STREAM_MARK.test(decoder.decode(new Uint8Array(body).subarray(0, HEAD_BYTES)));

/** Returns the same response to every request, whole or streamed. */
function always(dialect: BenchDialect): (request: Request) => Promise<Response> {
  const whole = hostAnswers(dialect);
  return async (request) => {
    const asked = await request.arrayBuffer();
    const isStream = isStreamed(asked) || request.url.includes(":stream");
    return isStream ? streamed(request, HOST_STREAMS[dialect]) : json(whole.get(kind) ?? NOTHING);
  };
}

function streamed({ signal }: Request, stream: HostStream): Response {
  const streams = paced;
  const { beginning } = stream;
  const body = new ReadableStream({
    type: "direct",
    pull: (sink: StreamSink) => {
      if (beginning.length > 0) {
        sink.write(beginning);
        sink.flush();
      }
      return streams ? streams.join(sink, stream, signal) : sendBurst(sink, stream);
    },
  } as unknown as ConstructorParameters<typeof ReadableStream>[0]);
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function sendBurst(sink: StreamSink, { chunkAt, endingAfter }: HostStream): Promise<void> {
  const { burst: length, between } = burst;
  for (let index = 0; index < length; index++) {
    sink.write(chunkAt(index));
    const flushed = sink.flush();
    if (flushed instanceof Promise) await flushed;
    // Everything flushed within one turn of the event loop leaves in one write.
    if (between === "turn") await nextTurn();
    else if (between !== "nothing") await Bun.sleep(between);
  }
  sink.write(endingAfter(length));
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

async function setAnswer(request: Request): Promise<Response> {
  kind = (await request.json()) as AnswerKind;
  return Response.json(null);
}

const answerChat = always("chat");
const answerMessages = always("messages");
const answerGenai = always("genai");
const answerResponses = always("responses");

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  routes: {
    "/v1/chat/completions": { POST: answerChat },
    "/api/v1/chat/completions": { POST: answerChat },
    "/v1/responses": { POST: answerResponses },
    "/api/v1/responses": { POST: answerResponses },
    "/v1/messages": { POST: answerMessages },
    "/api/msg/v1/messages": { POST: answerMessages },
    "/v1/models": { GET: () => Response.json({ object: "list", data: [{ id: MODEL, object: "model" }] }) },
    "/v1/models/*": { POST: answerGenai },
    "/api/genai/*": { POST: answerGenai },
    "/streams": { POST: setPlan },
    "/answers": { POST: setAnswer },
    "/finish": { POST: finish },
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
