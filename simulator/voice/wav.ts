import { wavHead } from "../../src/wire/wav-head.ts";

/** Samples of 16 bits, mono. */
interface Sound {
  samples: Int16Array;
  rate: number;
}

export function writeWav(samples: Uint8Array, rate: number): Uint8Array {
  return Buffer.concat([wavHead(samples.length, rate), samples]);
}

/** The first channel of a WAV file with samples of 16 bits; undefined for anything else. */
export function readWav(bytes: Uint8Array): Sound | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let format: { channels: number; rate: number } | undefined;
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString("latin1", at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const body = file.subarray(at + 8, at + 8 + size);
    if (name === "fmt " && body.length >= 16) {
      if (body.readUInt16LE(0) !== 1 || body.readUInt16LE(14) !== 16) return undefined;
      format = { channels: body.readUInt16LE(2), rate: body.readUInt32LE(4) };
    }
    if (name === "data" && format !== undefined) {
      return { samples: firstChannel(body, format.channels), rate: format.rate };
    }
    // A stream's head may name no length, or one beyond the file.
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** Samples of 16 bits, little-endian, as numbers. */
export function firstChannel(bytes: Uint8Array, channels: number): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const step = 2 * Math.max(1, channels);
  return Int16Array.from({ length: Math.floor(bytes.byteLength / step) }, (_, index) =>
    view.getInt16(index * step, true),
  );
}
