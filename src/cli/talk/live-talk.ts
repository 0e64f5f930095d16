import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { sendSound, type TalkAnswer, type TalkProtocol, type TalkRequest } from "./talk.ts";
import type { TalkSocket } from "./talk-socket.ts";

const PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";
const INPUT_RATE = 16_000;

/** Google's Live API. The turn is marked by the client, so that no pause in the sound ends it. */
export const liveTalk: TalkProtocol = {
  path: () => PATH,
  headers: (key) => ({ "x-goog-api-key": key }),
  input: { type: "pcm", rate: INPUT_RATE },
  talk,
};

async function talk(socket: TalkSocket, request: TalkRequest): Promise<TalkAnswer> {
  await socket.send({ setup: setupOf(request) });
  let message = await socket.next();
  while (objectAt(message, "setupComplete") === undefined) message = await socket.next();
  const session = stringAt(objectAt(message, "setupComplete"), "sessionId");
  const timing = { saidAtMs: performance.now() };
  const answer = read(socket, request, timing);
  // If it fails while the sound is sent, that is noticed below.
  answer.catch(() => {});
  await say(socket, request);
  timing.saidAtMs = performance.now();
  return { ...(await answer), session };
}

function setupOf({ model, instructions, voice }: TalkRequest): JsonObject {
  const speechConfig = voice === undefined ? undefined : { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } };
  const systemInstruction = instructions === undefined ? undefined : { parts: [{ text: instructions }] };
  return {
    model: `models/${model}`,
    generationConfig: { responseModalities: ["AUDIO"], ...withoutAbsent({ speechConfig }) },
    ...withoutAbsent({ systemInstruction }),
    realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
    inputAudioTranscription: {},
    outputAudioTranscription: {},
  };
}

async function say(socket: TalkSocket, { input, pace, signal }: TalkRequest): Promise<void> {
  if ("text" in input) {
    const turns = [{ role: "user", parts: [{ text: input.text }] }];
    await socket.send({ clientContent: { turns, turnComplete: true } });
    return;
  }
  await socket.send({ realtimeInput: { activityStart: {} } });
  await sendSound(input.sound, { rate: INPUT_RATE, pace, signal }, (frame) => {
    const data = Buffer.from(frame).toString("base64");
    return socket.send({ realtimeInput: { audio: { mimeType: `audio/pcm;rate=${INPUT_RATE}`, data } } });
  });
  if (!signal.aborted) await socket.send({ realtimeInput: { activityEnd: {} } });
}

async function read(
  socket: TalkSocket,
  request: TalkRequest,
  timing: { saidAtMs: number },
): Promise<Omit<TalkAnswer, "session">> {
  const { onHeard, onSaid } = request;
  const sound: Uint8Array[] = [];
  let heard = "";
  let said = "";
  let firstSoundMs: number | undefined;
  let usage: JsonObject | undefined;
  for (;;) {
    const message = await socket.next();
    usage = objectAt(message, "usageMetadata") ?? usage;
    const content = objectAt(message, "serverContent");
    heard += stringAt(objectAt(content, "inputTranscription"), "text") ?? "";
    const words = stringAt(objectAt(content, "outputTranscription"), "text") ?? "";
    if (words !== "") {
      if (said === "" && heard !== "") onHeard(heard);
      said += words;
      onSaid(words);
    }
    for (const part of arrayAt(objectAt(content, "modelTurn"), "parts")) {
      const data = isObject(part) ? stringAt(objectAt(part, "inlineData"), "data") : undefined;
      if (data === undefined) continue;
      firstSoundMs ??= performance.now() - timing.saidAtMs;
      sound.push(Buffer.from(data, "base64"));
    }
    if (content?.["turnComplete"] !== true) continue;
    const reason = stringAt(content, "turnCompleteReason");
    return {
      heard: "sound" in request.input ? heard : undefined,
      said,
      sound: Buffer.concat(sound),
      firstSoundMs,
      usage: { input: numberAt(usage, "promptTokenCount"), output: numberAt(usage, "responseTokenCount") },
      status: reason === undefined ? "completed" : `completed (${reason})`,
      // The messages of this protocol have no field for it.
      receipt: undefined,
    };
  }
}
