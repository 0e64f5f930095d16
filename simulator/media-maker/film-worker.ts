/** Runs in a thread of its own, for one film: see make-film.ts. */
import { createH264MP4Encoder } from "h264-mp4-encoder";
import { toneFrame } from "./aac-tone.ts";
import { animate } from "./animation.ts";
import type { FilmWish } from "./film-wish.ts";
import { packFilm } from "./mp4.ts";

declare const self: Worker;

export type FilmAnswer = { film: Uint8Array } | { problem: string };

const FASTEST = 10;
/** Fine enough that what stands still is found to be the same: a coarser film is smaller, and takes three times as long. */
const QUANTIZATION = 14;
const KEY_PICTURE_SECONDS = 4;
const LOWEST_TONE = 5;
const TONES = 5;

async function film(wish: FilmWish): Promise<Uint8Array> {
  const encoder = await createH264MP4Encoder();
  encoder.width = wish.width;
  encoder.height = wish.height;
  encoder.frameRate = wish.fps;
  encoder.speed = FASTEST;
  encoder.quantizationParameter = QUANTIZATION;
  encoder.groupOfPictures = Math.ceil(wish.fps * KEY_PICTURE_SECONDS);
  encoder.initialize();
  for await (const frame of animate(wish)) encoder.addFrameYuv(frame);
  encoder.finalize();
  const { width, height, fps } = wish;
  const encoded = encoder.FS.readFile(encoder.outputFilename);
  const tone = wish.audio ? { tone: toneFrame(LOWEST_TONE + (Math.abs(wish.seed) % TONES)) } : {};
  return packFilm({ encoded, width, height, fps, ...tone });
}

self.onmessage = async (event: MessageEvent<FilmWish>) => {
  try {
    self.postMessage({ film: await film(event.data) } satisfies FilmAnswer);
  } catch (error) {
    // An error does not cross to another thread whole; its words do.
    self.postMessage({ problem: error instanceof Error ? error.message : String(error) } satisfies FilmAnswer);
  }
};
