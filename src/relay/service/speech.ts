import type { Usage } from "../../canon/usage.ts";
import { soundPrices } from "../../catalogue/sound-prices.ts";
import { decodeSpeech } from "../../services/speech/decode-speech.ts";
import { fitSpeech } from "../../services/speech/fit-speech.ts";
import type { SpeechReader } from "../../services/speech/speech-adapter.ts";
import { SPEECH_TYPES, type SpeechRequest } from "../../services/speech/speech-call.ts";
import { soundEnd, soundEvent } from "../../services/speech/speech-events.ts";
import { billedSpeech, expectedSpeech, expectedTokens, type SpokenText } from "../../services/speech/speech-usage.ts";
import { notesOnOtherModels } from "../../services/without-routing.ts";
import type { ProviderExchange } from "../attempt/provider-exchange.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { readBody } from "../request/read-body.ts";
import { estimateService } from "./estimate-service.ts";
import { makesAll, readsAll } from "./plausible-usage.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import { admitService, type Service } from "./service-call.ts";
import { type ServiceStream, type StreamPart, streamService } from "./stream-service.ts";

const SPEECH: Service<"speech", SpeechRequest> = {
  name: "speech",
  read: async (request, memory, gateway) => {
    const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
    const { body } = received;
    const notes = notesOnOtherModels(body);
    return { request: decodeSpeech(body), body, stream: true, notes, sent: received };
  },
  estimate: ({ call }) => estimateService((pricings) => expectedSpeech(call, soundPrices(pricings))),
  fit: ({ call }, { adapter, offer, model }) => {
    fitSpeech(call, adapter.capabilities(offer.upstreamModel), model.id);
  },
};

/** `audio/speech`: text to speech, sent as it is generated. */
export async function relaySpeech(incoming: IncomingRequest, gateway: Gateway): Promise<Response> {
  const { call, targets } = await admitService(incoming, gateway, SPEECH);
  return streamService(call, gateway, targets, {
    form: call.request.events ? "events" : "bytes",
    open: (attempt) => openSpeech(call.request, attempt),
  });
}

async function openSpeech({ call, events }: SpeechRequest, attempt: ServiceAttempt<"speech">): Promise<ServiceStream> {
  const { adapter, offer, model, provider, pricings } = attempt.target;
  const { upstreamModel } = offer;
  const capabilities = adapter.capabilities(upstreamModel);
  const { call: fitted, notes } = fitSpeech(call, capabilities, model.id);
  attempt.note(notes);
  const prices = soundPrices(pricings);
  const work = attempt.begin(expectedSpeech(call, prices));
  try {
    const request = adapter.submit(fitted, attempt.context);
    const asking = capabilities.answersWhole ? {} : { idleMs: provider.timeoutMs.idle };
    const exchange = await attempt.open(request, asking);
    const reader = readerOf(exchange, (type) => adapter.createReader(fitted, attempt.context, type));
    const { input, instructions = "" } = call;
    const isPlausible = (usage: Usage): boolean =>
      !prices.byToken || (makesAll(input.length)(usage) && readsAll(input.length + instructions.length)(usage));
    const finish = (reported: Usage | undefined): Usage =>
      attempt.done(work, billedSpeech(call.input, reported, prices), { isPlausible });
    const parts = events ? eventParts(exchange, reader, finish, call) : soundParts(exchange, reader, finish);
    return {
      contentType: events ? "text/event-stream" : SPEECH_TYPES[fitted.format],
      parts: unlessSilent(parts, () => attempt.failed(work)),
    };
  } catch (thrown) {
    attempt.failed(work);
    throw thrown;
  }
}

function readerOf(exchange: ProviderExchange, create: (type: string | undefined) => SpeechReader): SpeechReader {
  try {
    return create(exchange.headers.get("content-type") ?? undefined);
  } catch (thrown) {
    exchange.close();
    throw thrown;
  }
}

/** An attempt that fails before its first sound is not billed. */
async function* unlessSilent(parts: AsyncGenerator<StreamPart>, whenSilent: () => void): AsyncGenerator<StreamPart> {
  let begun = false;
  try {
    for await (const part of parts) {
      begun = true;
      yield part;
    }
  } catch (thrown) {
    if (!begun) whenSilent();
    throw thrown;
  }
}

async function* soundParts(
  exchange: ProviderExchange,
  reader: SpeechReader,
  finish: (reported: Usage | undefined) => unknown,
): AsyncGenerator<Uint8Array> {
  let reported: Usage | undefined;
  for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
    const { sound, usage } = reader.read(chunk);
    reported = usage ?? reported;
    if (sound.length > 0) yield sound;
  }
  const { sound, usage } = reader.end();
  finish(usage ?? reported);
  if (sound.length > 0) yield sound;
}

/** The same as events. The client also receives the usage that the host reports. */
async function* eventParts(
  exchange: ProviderExchange,
  reader: SpeechReader,
  finish: (reported: Usage | undefined) => Usage,
  call: SpokenText,
): AsyncGenerator<string> {
  let said: Usage | undefined;
  const parts = soundParts(exchange, reader, (reported) => {
    const billed = finish(reported);
    said = reported === undefined ? undefined : billed;
  });
  for await (const sound of parts) yield soundEvent(sound);
  yield soundEnd(said === undefined || said.characters !== undefined ? expectedTokens(call) : said);
}
