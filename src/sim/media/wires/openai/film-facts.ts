/** What the boxes of an MP4 say of its picture and its length. For tests: a film really has what was asked for. */
export interface FilmFacts {
  width: number;
  height: number;
  seconds: number;
}

/** Both boxes are read in their short form, which is the one that our maker writes. */
export function filmFacts(film: Uint8Array): FilmFacts {
  const bytes = Buffer.from(film);
  if (bytes.toString("latin1", 4, 8) !== "ftyp") throw new Error("this is no MP4");
  const movie = bytes.indexOf("mvhd");
  const track = bytes.indexOf("tkhd");
  if (movie < 0 || track < 0) throw new Error("this MP4 has no head");
  const trackEnd = track - 4 + bytes.readUInt32BE(track - 4);
  return {
    width: bytes.readUInt16BE(trackEnd - 8),
    height: bytes.readUInt16BE(trackEnd - 4),
    seconds: bytes.readUInt32BE(movie + 20) / bytes.readUInt32BE(movie + 16),
  };
}
