import { createFile, type Movie, MP4BoxBuffer } from "mp4box";

/** What an MP4 file says of itself, read by a library that did not write it. */
interface Mp4Facts {
  /** As RFC 6381 writes them, in the order of the tracks. */
  codecs: string[];
  width: number;
  height: number;
  /** Length of the whole, and of each track as its edit list has it. */
  seconds: number;
  trackSeconds: number[];
  fps: number;
  frames: number;
  /** Numbers of the frames at which a player may begin. */
  keyFrames: number[];
  /** The index precedes the samples, so that a player can start before it has the whole file. */
  indexFirst: boolean;
}

export function readMp4(bytes: Uint8Array): Mp4Facts {
  const file = createFile();
  let movie: Movie | undefined;
  file.onReady = (found) => {
    movie = found;
  };
  file.onError = (_module, message) => {
    throw new Error(`not a readable MP4: ${message}`);
  };
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(new Uint8Array(bytes).buffer, 0), true);
  file.flush();
  const video = movie?.videoTracks[0];
  if (movie === undefined || video?.video === undefined) throw new Error("not a readable MP4: no video track");
  const samples = file.getTrackSamplesInfo(video.id);
  return {
    codecs: movie.tracks.map(({ codec }) => codec),
    width: video.video.width,
    height: video.video.height,
    seconds: movie.duration / movie.timescale,
    trackSeconds: movie.tracks.map(({ movie_duration, movie_timescale }) => movie_duration / movie_timescale),
    fps: (video.nb_samples * video.timescale) / video.samples_duration,
    frames: samples.length,
    keyFrames: samples.flatMap(({ is_sync, number }) => (is_sync ? [number] : [])),
    indexFirst: movie.isProgressive,
  };
}
