import type { Json, JsonObject } from "../../../json.ts";
import { decodeG711, encodeG711, G711_RATE } from "../../../live/g711.ts";
import { thirdOf } from "../../../live/third-of.ts";
import { SPEECH_RATE } from "../../../voice/tones.ts";
import { firstChannel } from "../../../voice/wav.ts";
import { badValue, requireObject, requireString } from "../text/check.ts";
import { invalid } from "../text/errors.ts";

/** How audio is written in events. */
export interface AudioFormat {
  shown: JsonObject;
  rate: number;
  bytesPerSample: number;
  decode: (bytes: Uint8Array) => Int16Array;
  /** Takes samples at SPEECH_RATE. */
  encode: (samples: Int16Array) => Uint8Array;
}

const bytesOf = (samples: Int16Array): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);

const FORMATS: Readonly<Record<string, AudioFormat>> = {
  "audio/pcm": {
    shown: { type: "audio/pcm", rate: SPEECH_RATE },
    rate: SPEECH_RATE,
    bytesPerSample: 2,
    decode: (bytes) => firstChannel(bytes, 1),
    encode: bytesOf,
  },
  "audio/pcmu": {
    shown: { type: "audio/pcmu" },
    rate: G711_RATE,
    bytesPerSample: 1,
    decode: (bytes) => decodeG711(bytes, "mu"),
    encode: (samples) => encodeG711(thirdOf(samples), "mu"),
  },
  "audio/pcma": {
    shown: { type: "audio/pcma" },
    rate: G711_RATE,
    bytesPerSample: 1,
    decode: (bytes) => decodeG711(bytes, "a"),
    encode: (samples) => encodeG711(thirdOf(samples), "a"),
  },
};

export function readFormat(value: Json | undefined, param: string): AudioFormat {
  const format = requireObject(value, param);
  const type = requireString(format.type, `${param}.type`);
  const found = Object.hasOwn(FORMATS, type) ? FORMATS[type] : undefined;
  if (found === undefined) throw badValue(type, Object.keys(FORMATS), `${param}.type`);
  if (type === "audio/pcm" && (format.rate ?? SPEECH_RATE) !== SPEECH_RATE) {
    throw invalid(
      `Invalid '${param}.rate': expected ${SPEECH_RATE}, but got ${String(format.rate)} instead.`,
      `${param}.rate`,
      "invalid_value",
    );
  }
  return found;
}
