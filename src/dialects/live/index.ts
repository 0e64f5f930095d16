import type { LiveDialect } from "../live-dialect.ts";
import { bytesOfAudioFrame } from "../session/audio-frame.ts";
import { liveClose } from "../session/live-close.ts";
import { AUDIO_FRAMES } from "./audio-frames.ts";
import { check } from "./check.ts";
import { LiveClientSide } from "./client-codec.ts";
import { native } from "./native.ts";
import { LiveHostSide } from "./upstream-codec.ts";

export const live: LiveDialect = {
  name: "live",
  client: (context) => new LiveClientSide(context),
  upstream: (context) => new LiveHostSide(context),
  audioBytesIn: (frame) => bytesOfAudioFrame(frame, AUDIO_FRAMES.client),
  audioBytesOut: (frame) => bytesOfAudioFrame(frame, AUDIO_FRAMES.host),
  check,
  nativeCommand: native.command,
  nativeEvent: native.event,
  close: liveClose,
  audio: { input: { type: "pcm", rate: 16_000 }, output: { type: "pcm", rate: 24_000 } },
};
