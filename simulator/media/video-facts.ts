/** What a video says of itself, for tests: it really has what was asked for. */
export interface VideoFacts {
  width: number;
  height: number;
  seconds: number;
  audio: boolean;
}

const FIXED_POINT = 65_536;

/** Reads the headers of an MP4 whose boxes are of version 0, which our maker writes. */
export function videoFacts(video: Uint8Array): VideoFacts {
  const bytes = Buffer.from(video);
  if (bytes.toString("latin1", 4, 8) !== "ftyp") throw new Error("Not an MP4 file.");
  const movie = bytes.indexOf("mvhd");
  const track = bytes.indexOf("tkhd");
  if (movie < 0 || track < 0) throw new Error("This MP4 has no head.");
  return {
    width: bytes.readUInt32BE(track + 80) / FIXED_POINT,
    height: bytes.readUInt32BE(track + 84) / FIXED_POINT,
    seconds: bytes.readUInt32BE(movie + 20) / bytes.readUInt32BE(movie + 16),
    audio: bytes.includes("mp4a"),
  };
}
