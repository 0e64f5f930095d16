import { GatewayError } from "../../canon/error.ts";
import type { Usage } from "../../canon/usage.ts";
import { soundPrices } from "../../catalogue/sound-prices.ts";
import { decodeTranscription } from "../../services/transcription/decode-transcription.ts";
import {
  encodeTranscript,
  encodeTranscriptUsage,
  eventsOfTranscript,
} from "../../services/transcription/encode-transcript.ts";
import { fitTranscription } from "../../services/transcription/fit-transcription.ts";
import type { Transcript } from "../../services/transcription/transcript.ts";
import type { FittedTranscription, TranscriptionRequest } from "../../services/transcription/transcription-call.ts";
import {
  billedTranscription,
  expectedTranscription,
  hearsAll,
} from "../../services/transcription/transcription-usage.ts";
import { answerHeaders } from "../answer/answer-headers.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import type { ProviderExchange } from "../attempt/provider-exchange.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { guardServiceAnswer } from "../guard/guard-service.ts";
import { formFields, isForm, readForm } from "../request/read-form.ts";
import { formText } from "../settle/capture-call.ts";
import { answerService } from "./answer-service.ts";
import { estimateService } from "./estimate-service.ts";
import { eventData, isEventStream } from "./event-data.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import { admitService, type Service, type ServiceCall } from "./service-call.ts";
import { type ServiceStream, streamService } from "./stream-service.ts";

/** No transcript comes near this size, which is some hundred hours of words with times. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Both have the same form. One returns the language of the recording, the other English. */
type Verb = "transcriptions" | "translations";
type Attempt = ServiceAttempt<Verb>;

const serviceOf = (name: Verb): Service<Verb, TranscriptionRequest> => ({
  name,
  read: async (request, memory, gateway) => {
    if (!isForm(request)) throw notAForm(request.headers.get("content-type"));
    const { form } = await readForm(request, memory, gateway);
    const decoded = decodeTranscription(form, name === "translations" ? "translate" : "transcribe");
    const { model, routing, stream, notes } = decoded;
    return {
      request: decoded,
      body: routing,
      fields: formFields(form),
      model,
      stream,
      notes,
      sent: { text: formText(form) },
      form,
    };
  },
  estimate: ({ call }) =>
    estimateService((pricings) => expectedTranscription({ file: call.file.bytes }, soundPrices(pricings).bySecond)),
  fit: (request, { adapter, offer, model }) => {
    fitTranscription(request, adapter.capabilities(offer.upstreamModel), model.id);
  },
});

function notAForm(type: string | null): GatewayError {
  const found = type === null ? "none was sent" : `it is ${type.slice(0, 80)}`;
  const message = `The Content-Type must be multipart/form-data, with the recording as file; ${found}.`;
  return new GatewayError("unsupported_media_type", message);
}

/** `audio/transcriptions` and `audio/translations`. */
export async function relayTranscription(incoming: IncomingRequest, gateway: Gateway, name: Verb): Promise<Response> {
  const { call, targets } = await admitService(incoming, gateway, serviceOf(name));
  const { request } = call;
  if (request.stream) {
    const open = (attempt: Attempt) => openTranscript(request, attempt);
    return streamService(call, gateway, targets, { form: "events", open });
  }
  const { type, body } = await answerService(
    call,
    gateway,
    targets,
    (attempt) => transcribe(request, attempt),
    async ({ transcript: made, usage, asked }) => {
      const transcript = await guardedTranscript(made, call, gateway);
      return encodeTranscript(transcript, { wanted: request.format, made: asked }, usage);
    },
  );
  call.capture?.answered(body);
  return identifiedResponse(body, answerHeaders(call, type));
}

/** As the guards leave it. What they remove may be spread over segments and words, so a changed text has only itself. */
async function guardedTranscript(made: Transcript, call: ServiceCall, gateway: Gateway): Promise<Transcript> {
  if (call.guards === undefined) return made;
  const json = JSON.stringify({ text: made.text });
  const { text = "" } = JSON.parse(await guardServiceAnswer(call, gateway, json)) as { text?: string };
  if (text === made.text) return made;
  const { raw: _raw, segments, ...rest } = made;
  const end = segments?.at(-1)?.end ?? made.seconds ?? 0;
  return { ...rest, text, ...(segments === undefined ? {} : { segments: [{ text, start: 0, end }] }) };
}

/** Prepares the request for the target and the estimate of its usage. */
function begin(request: TranscriptionRequest, attempt: Attempt) {
  const { adapter, offer, model, pricings } = attempt.target;
  const fitted = fitTranscription(request, adapter.capabilities(offer.upstreamModel), model.id);
  attempt.note([]);
  const file = fitted.file.bytes;
  const { bySecond } = soundPrices(pricings);
  const work = attempt.begin(expectedTranscription({ file }, bySecond));
  /** Counts the usage and returns it. */
  const finish = (text: string, reported: Usage | undefined): Usage => {
    const instead = expectedTranscription({ file, text }, bySecond);
    const known = { instead, isPlausible: hearsAll(file, bySecond) };
    return attempt.done(work, billedTranscription(reported, bySecond), known);
  };
  return { adapter, fitted, finish, fail: () => attempt.failed(work) };
}

interface Transcribed {
  transcript: Transcript;
  usage: Usage;
  asked: FittedTranscription["format"];
}

async function transcribe(request: TranscriptionRequest, attempt: Attempt): Promise<Transcribed> {
  const { adapter, fitted, finish, fail } = begin(request, attempt);
  try {
    const answer = await attempt.ask(adapter.submit(fitted, attempt.context), MAX_ANSWER_BYTES);
    const transcript = adapter.read(answer);
    return { transcript, usage: finish(transcript.text, transcript.usage), asked: fitted.format };
  } finally {
    fail();
  }
}

const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

/** Streamed if the host streams, otherwise in two events when it has responded. */
async function openTranscript(request: TranscriptionRequest, attempt: Attempt): Promise<ServiceStream> {
  const { adapter, fitted, finish, fail } = begin(request, attempt);
  const contentType = "text/event-stream";
  try {
    const asked = adapter.submit(fitted, attempt.context);
    const exchange = await attempt.open(asked, fitted.stream ? { idleMs: attempt.target.provider.timeoutMs.idle } : {});
    if (isEventStream(exchange)) return { contentType, parts: streamed(exchange, attempt, { finish, fail }) };
    return { contentType, parts: answeredWhole(exchange, attempt, { finish, fail }) };
  } catch (thrown) {
    fail();
    throw thrown;
  }
}

interface Ending {
  finish: (text: string, reported: Usage | undefined) => Usage;
  fail: () => void;
}

async function* streamed(
  exchange: ProviderExchange,
  attempt: Attempt,
  { finish, fail }: Ending,
): AsyncGenerator<string> {
  let begun = false;
  let whole = false;
  try {
    for await (const data of eventData(exchange)) {
      const read = attempt.target.adapter.readEvent(data);
      if (read === undefined) continue;
      const { event, done } = read;
      begun = true;
      if (done === undefined) yield frame(event);
      else {
        whole = true;
        const usage = finish(done.text, done.usage);
        yield frame({ ...event, usage: event["usage"] ?? encodeTranscriptUsage(usage) });
      }
    }
    if (!whole)
      throw new GatewayError("upstream_failed", "The provider closed the stream before the end of the transcript.");
  } finally {
    if (!begun) fail();
  }
}

async function* answeredWhole(
  exchange: ProviderExchange,
  attempt: Attempt,
  { finish, fail }: Ending,
): AsyncGenerator<string> {
  try {
    const transcript = attempt.target.adapter.read(await attempt.readWhole(exchange, MAX_ANSWER_BYTES));
    const usage = finish(transcript.text, transcript.usage);
    for (const event of eventsOfTranscript(transcript, usage)) yield frame(event);
  } finally {
    fail();
  }
}
