import { AUDIO_CONFIG, AUDIO_RATE, SAMPLES_PER_FRAME } from "./aac-tone.ts";
import { box, findBox, halves, words } from "./boxes.ts";

const MOVIE_RATE = 1000;
const MATRIX = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);
const LANGUAGE_UNDETERMINED = 0x55c4;
const KEY_FRAME = 5;
/** BT.709 in the limited range. */
const COLOURS = box("colr", Buffer.from("nclx"), halves(1, 1, 1), [0]);

interface Track {
  id: number;
  handler: "vide" | "soun";
  width: number;
  height: number;
  /** Ticks of the track's clock in a second. */
  rate: number;
  ticksPerSample: number;
  samples: Uint8Array[];
  /** Numbers of the samples at which a player may begin, from 1; without them it is every one. */
  keys?: number[];
  mediaHeader: Uint8Array;
  description: Uint8Array;
}

/** A video before it is in a file. */
export interface EncodedFrames {
  frames: Uint8Array[];
  /** The content of the box `avc1`. */
  entry: Uint8Array;
}

/** What is in a file that the encoder has written. */
export function readEncoded(encoded: Uint8Array): EncodedFrames {
  // After version, flags and count there is one entry, `avc1`.
  return { frames: framesOf(encoded), entry: findBox(encoded, "moov/trak/mdia/minf/stbl/stsd").subarray(16) };
}

function framesOf(encoded: Uint8Array): Uint8Array[] {
  const sizes = findBox(encoded, "moov/trak/mdia/minf/stbl/stsz");
  const data = findBox(encoded, "mdat");
  // Frames of the same length, and so a single one, are not listed one by one.
  const commonSize = sizes.readUInt32BE(4);
  const frames: Uint8Array[] = [];
  let from = 0;
  for (let index = 0; index < sizes.readUInt32BE(8); index++) {
    const to = from + (commonSize || sizes.readUInt32BE(12 + index * 4));
    frames.push(data.subarray(from, to));
    from = to;
  }
  if (from !== data.length) throw new Error(`the encoder wrote ${data.length} bytes of frames and listed ${from}`);
  return frames;
}

function isKey(frame: Uint8Array): boolean {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  for (let at = 0; at + 4 < bytes.length; at += 4 + bytes.readUInt32BE(at)) {
    if ((bytes.readUInt8(at + 4) & 0x1f) === KEY_FRAME) return true;
  }
  return false;
}

function videoTrack({ frames: samples, entry }: EncodedFrames, width: number, height: number, fps: number): Track {
  return {
    id: 1,
    handler: "vide",
    width,
    height,
    rate: Math.round(fps * 1000),
    ticksPerSample: 1000,
    samples,
    keys: samples.flatMap((sample, index) => (isKey(sample) ? [index + 1] : [])),
    mediaHeader: box("vmhd", words(1, 0, 0)),
    description: box("avc1", entry, COLOURS),
  };
}

/** Descriptors of MPEG-4 inside each other; all are shorter than 128 bytes. */
function descriptor(tag: number, ...contents: (Uint8Array | readonly number[])[]): Uint8Array {
  const data = Buffer.concat(contents.map((content) => Uint8Array.from(content)));
  return Buffer.concat([Uint8Array.from([tag, data.length]), data]);
}

function audioTrack(frame: Uint8Array, seconds: number): Track {
  const bitRate = Math.ceil((frame.length * 8 * AUDIO_RATE) / SAMPLES_PER_FRAME);
  const decoder = descriptor(4, [0x40, 0x15, 0, 0, 0], words(bitRate, bitRate), descriptor(5, AUDIO_CONFIG));
  const stream = descriptor(3, [0, 2, 0], decoder, descriptor(6, [2]));
  const sound = [words(0, 1, 0, 0), halves(1, 16, 0, 0), words(AUDIO_RATE * 0x10000)];
  return {
    id: 2,
    handler: "soun",
    width: 0,
    height: 0,
    rate: AUDIO_RATE,
    ticksPerSample: SAMPLES_PER_FRAME,
    samples: Array<Uint8Array>(Math.ceil((seconds * AUDIO_RATE) / SAMPLES_PER_FRAME)).fill(frame),
    mediaHeader: box("smhd", words(0, 0)),
    description: box("mp4a", ...sound, box("esds", words(0), stream)),
  };
}

function trackBox(track: Track, seconds: number, dataOffset: number): Uint8Array {
  const { samples } = track;
  const ticks = samples.length * track.ticksPerSample;
  const duration = Math.round(seconds * MOVIE_RATE);
  const volume = track.handler === "soun" ? 0x0100 : 0;
  const size = words(track.width * 0x10000, track.height * 0x10000);
  const handler = [words(0, 0), Buffer.from(track.handler), words(0, 0, 0), Buffer.from("simulator\0")];
  const samplesBox = box(
    "stbl",
    box("stsd", words(0, 1), track.description),
    box("stts", words(0, 1, samples.length, track.ticksPerSample)),
    ...(track.keys ? [box("stss", words(0, track.keys.length, ...track.keys))] : []),
    box("stsc", words(0, 1, 1, samples.length, 1)),
    box("stsz", words(0, 0, samples.length, ...samples.map((sample) => sample.length))),
    box("stco", words(0, 1, dataOffset)),
  );
  const dataInformation = box("dinf", box("dref", words(0, 1), box("url ", words(1))));
  return box(
    "trak",
    box("tkhd", words(3, 0, 0, track.id, 0, duration, 0, 0), halves(0, 0, volume, 0), MATRIX, size),
    box("edts", box("elst", words(0, 1, duration, 0, 0x10000))),
    box(
      "mdia",
      box("mdhd", words(0, 0, 0, track.rate, ticks), halves(LANGUAGE_UNDETERMINED, 0)),
      box("hdlr", ...handler),
      box("minf", track.mediaHeader, dataInformation, samplesBox),
    ),
  );
}

/**
 * Puts the encoder's frames and perhaps a tone into one file. The encoder's own file has no sound, says of every frame
 * that it is a key frame, and keeps the index at its end, where a browser must look for it.
 */
export function packVideo(parts: {
  encoded: EncodedFrames;
  width: number;
  height: number;
  fps: number;
  tone?: Uint8Array;
}): Uint8Array {
  const video = videoTrack(parts.encoded, parts.width, parts.height, parts.fps);
  const seconds = video.samples.length / parts.fps;
  const tracks = parts.tone === undefined ? [video] : [video, audioTrack(parts.tone, seconds)];
  const data = tracks.map((track) => Buffer.concat(track.samples));

  const header = box("ftyp", Buffer.from("isom"), words(0x200), Buffer.from("isomiso2avc1mp41"));
  const movie = (dataStart: number): Uint8Array => {
    let offset = dataStart;
    const boxes = tracks.map((track, index) => {
      const made = trackBox(track, seconds, offset);
      offset += data[index]?.length ?? 0;
      return made;
    });
    const times = words(0, 0, 0, MOVIE_RATE, Math.round(seconds * MOVIE_RATE), 0x10000);
    const rest = [halves(0x0100, 0), words(0, 0), MATRIX, words(0, 0, 0, 0, 0, 0, tracks.length + 1)];
    return box("moov", box("mvhd", times, ...rest), ...boxes);
  };
  // The offsets have the same length whatever they are.
  const dataStart = header.length + movie(0).length + 8;
  return new Uint8Array(Buffer.concat([header, movie(dataStart), box("mdat", ...data)]));
}
