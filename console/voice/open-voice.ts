import { keyFor, post } from "../play/send.ts";
import { type Microphone, openMicrophone } from "./microphone.ts";
import { Speaker } from "./speaker.ts";
import { VoiceSession, type VoiceView } from "./voice-session.ts";

interface Opening {
  model: string;
  instructions: string;
  /** The operator's key; if empty, a temporary key is created. */
  key: string;
  onChange: (view: VoiceView) => void;
  /** How loud the microphone is, from 0 to 1. */
  onLevel: (level: number) => void;
}

export interface Voice {
  session: VoiceSession;
  close(): void;
}

const FORMAT = { type: "audio/pcm", rate: 24_000 };
const TRANSCRIBER = "gpt-4o-mini-transcribe";

/** Browsers cannot send a key in a header of a WebSocket: the gateway gives a secret that is valid for a minute. */
async function secretFor({ model, instructions, key }: Opening): Promise<string> {
  const own = await keyFor(key);
  const ask = async (input: object) => {
    const session = {
      type: "realtime",
      model,
      ...(instructions === "" ? {} : { instructions }),
      output_modalities: ["audio"],
      audio: { input: { format: FORMAT, turn_detection: null, ...input }, output: { format: FORMAT } },
    };
    const request = { path: "/v1/realtime/client_secrets", body: { session } };
    const response = await post(request, own, new AbortController().signal);
    const answer = (await response.json()) as { value?: string; error?: { message?: string; param?: string | null } };
    return { status: response.status, ...answer };
  };
  let answer = await ask({ transcription: { model: TRANSCRIBER } });
  // A key with a budget may not use a transcriber whose price is unknown: the user's own words are then not shown.
  if (answer.status === 400 && answer.error?.message?.includes("transcription")) answer = await ask({});
  if (answer.value !== undefined) return answer.value;
  throw new Error(answer.error?.message ?? `The gateway answered with status ${answer.status}.`);
}

function socketFor(model: string, secret: string): WebSocket {
  const url = new URL("/api/play", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.searchParams.set("path", `/v1/realtime?${new URLSearchParams({ model })}`);
  return new WebSocket(url, ["realtime", `openai-insecure-api-key.${secret}`]);
}

const levelOf = (frame: Int16Array): number => frame.reduce((most, one) => Math.max(most, Math.abs(one)), 0) / 32_768;

/** Turns on the microphone and opens a conversation. */
export async function openVoice(opening: Opening): Promise<Voice> {
  let session: VoiceSession | undefined;
  const microphone: Microphone = await openMicrophone((frame) => {
    opening.onLevel(levelOf(frame));
    session?.hear(frame);
  });
  const speaker = new Speaker();
  const close = (): void => {
    microphone.close();
    speaker.close();
  };
  try {
    const socket = socketFor(opening.model, await secretFor(opening));
    session = new VoiceSession({
      socket,
      play: (itemId, part) => speaker.play(itemId, part),
      hush: () => speaker.stop(),
      nowMs: () => performance.now(),
      onChange: (view) => {
        opening.onChange(view);
        if (view.state === "closed" || view.state === "failed") close();
      },
    });
  } catch (failure) {
    close();
    throw failure;
  }
  const opened = session;
  return { session: opened, close: () => opened.close() };
}
