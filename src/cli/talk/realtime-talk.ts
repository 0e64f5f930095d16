import { type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { sendSound, type TalkAnswer, type TalkProtocol, type TalkRequest } from "./talk.ts";
import type { TalkSocket } from "./talk-socket.ts";

/** What understands the user's words for the transcript. The model itself hears the sound. */
const TRANSCRIBER = "gpt-4o-mini-transcribe";
const WITH_TRANSCRIPT = "talk_session";
const INPUT_RATE = 24_000;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** OpenAI's Realtime API. The turn is marked by the client, so that no pause in the sound ends it. */
export const realtimeTalk: TalkProtocol = {
  path: (model) => `/v1/realtime?${new URLSearchParams({ model })}`,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  input: { type: "pcm", rate: INPUT_RATE },
  talk,
};

async function talk(socket: TalkSocket, request: TalkRequest): Promise<TalkAnswer> {
  await socket.send({ type: "session.update", event_id: WITH_TRANSCRIPT, session: sessionOf(request, true) });
  const turn = new Turn(socket, request);
  const answer = turn.read();
  // If it fails while the sound is sent, that is noticed below.
  answer.catch(() => {});
  await turn.say();
  return answer;
}

function sessionOf({ input, instructions, voice }: TalkRequest, transcribes: boolean): JsonObject {
  const format = { type: "audio/pcm", rate: INPUT_RATE };
  const transcription = transcribes && "sound" in input ? { model: TRANSCRIBER } : undefined;
  const output = withoutAbsent({ format, voice });
  return {
    type: "realtime",
    output_modalities: ["audio"],
    ...withoutAbsent({ instructions }),
    audio: { input: { format, turn_detection: null, ...withoutAbsent({ transcription }) }, output },
  };
}

class Turn {
  readonly #socket: TalkSocket;
  readonly #request: TalkRequest;
  readonly #sound: Uint8Array[] = [];
  #session: string | undefined;
  #heard: string | undefined;
  #said = "";
  #saidAtMs: number | undefined;
  #firstSoundMs: number | undefined;

  constructor(socket: TalkSocket, request: TalkRequest) {
    this.#socket = socket;
    this.#request = request;
  }

  /** Sends the user's turn, and asks for the answer. */
  async say(): Promise<void> {
    const { input, pace, signal } = this.#request;
    const socket = this.#socket;
    if ("text" in input) {
      const content = [{ type: "input_text", text: input.text }];
      await socket.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
    } else {
      await sendSound(input.sound, { rate: INPUT_RATE, pace, signal }, (frame) =>
        socket.send({ type: "input_audio_buffer.append", audio: base64(frame) }),
      );
      await socket.send({ type: "input_audio_buffer.commit" });
    }
    if (signal.aborted) return;
    this.#saidAtMs = performance.now();
    await socket.send({ type: "response.create" });
  }

  /** Reads until the response is done. */
  async read(): Promise<TalkAnswer> {
    const { onHeard, onSaid } = this.#request;
    for (;;) {
      const event = await this.#socket.next();
      this.#session ??= stringAt(event, "session_id");
      switch (stringAt(event, "type")) {
        case "error":
          await this.#takeError(event);
          break;
        case "conversation.item.input_audio_transcription.completed":
          this.#heard = stringAt(event, "transcript") ?? "";
          onHeard(this.#heard);
          break;
        case "response.output_audio_transcript.delta":
        case "response.output_text.delta":
          this.#said += stringAt(event, "delta") ?? "";
          onSaid(stringAt(event, "delta") ?? "");
          break;
        case "response.output_audio.delta":
          this.#firstSoundMs ??= performance.now() - (this.#saidAtMs ?? performance.now());
          this.#sound.push(Buffer.from(stringAt(event, "delta") ?? "", "base64"));
          break;
        case "response.done":
          return this.#end(objectAt(event, "response") ?? {});
      }
    }
  }

  /** A host without a model for transcripts answers without one. */
  async #takeError(event: JsonObject): Promise<void> {
    const error = objectAt(event, "error");
    if (stringAt(error, "event_id") === WITH_TRANSCRIPT) {
      await this.#socket.send({ type: "session.update", session: sessionOf(this.#request, false) });
      return;
    }
    throw new GatewayError("upstream_failed", stringAt(error, "message") ?? "The gateway reported an error.");
  }

  #end(response: JsonObject): TalkAnswer {
    const details = objectAt(response, "status_details");
    const status = stringAt(response, "status") ?? "unknown";
    if (status === "failed") {
      const message = stringAt(objectAt(details, "error"), "message") ?? "The response failed.";
      throw new GatewayError("upstream_failed", message);
    }
    const reason = stringAt(details, "reason");
    const usage = objectAt(response, "usage");
    return {
      heard: this.#heard,
      said: this.#said,
      sound: Buffer.concat(this.#sound),
      firstSoundMs: this.#firstSoundMs,
      usage: { input: numberAt(usage, "input_tokens"), output: numberAt(usage, "output_tokens") },
      status: reason === undefined ? status : `${status} (${reason})`,
      session: this.#session,
      receipt: stringAt(objectAt(response, "metadata"), "trivium_receipt"),
    };
  }
}
