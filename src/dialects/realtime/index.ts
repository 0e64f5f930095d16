import type { LiveDialect } from "../live-dialect.ts";
import { bytesOfAudioFrame } from "../session/audio-frame.ts";
import { liveClose } from "../session/live-close.ts";
import { DEFAULT_FORMAT } from "./audio-format.ts";
import { AUDIO_FRAMES } from "./audio-frames.ts";
import { check } from "./check.ts";
import { RealtimeClientCodec } from "./client-codec.ts";
import { native } from "./native.ts";
import { RealtimeUpstreamCodec } from "./upstream-codec.ts";

export const realtime: LiveDialect = {
  name: "realtime",
  client: (context) => new RealtimeClientCodec(context),
  upstream: (context) => new RealtimeUpstreamCodec(context),
  audioBytesIn: (frame) => bytesOfAudioFrame(frame, AUDIO_FRAMES.client),
  audioBytesOut: (frame) => bytesOfAudioFrame(frame, AUDIO_FRAMES.host),
  check,
  nativeCommand: native.command,
  nativeEvent: native.event,
  close: liveClose,
  audio: { input: DEFAULT_FORMAT, output: DEFAULT_FORMAT },
};
