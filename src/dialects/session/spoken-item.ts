import { AudioConverter } from "../../audio/audio-converter.ts";
import type { LiveAudioFormat } from "../../canon/live.ts";
import type { MediaPart } from "../../canon/part.ts";
import { wavHead } from "../../wire/wav-head.ts";

const PCM = /^audio\/pcm;rate=(\d+)$/;

/** Audio in the form of a session as a file, which says its own rate. Other media are returned as they are. */
export function asWavFile(part: MediaPart): MediaPart {
  const { source } = part;
  if (source.type !== "data") return part;
  const rate = PCM.exec(source.mimeType)?.[1];
  const format: LiveAudioFormat | undefined =
    rate !== undefined
      ? { type: "pcm", rate: Number(rate) }
      : source.mimeType === "audio/pcmu"
        ? { type: "pcmu" }
        : source.mimeType === "audio/pcma"
          ? { type: "pcma" }
          : undefined;
  if (format === undefined) return part;
  const linear = { type: "pcm", rate: format.type === "pcm" ? format.rate : 8000 } as const;
  const samples = new AudioConverter(format, linear).push(Buffer.from(source.data, "base64"));
  const file = Buffer.concat([wavHead(samples.length, linear.rate), samples]);
  return { ...part, source: { type: "data", mimeType: "audio/wav", data: file.toString("base64") } };
}
