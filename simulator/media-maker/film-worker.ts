/** Runs in a thread of its own, for one film: see make-film.ts. */
import { toneFrame } from "./aac-tone.ts";
import { animate } from "./animation.ts";
import { type FilmWish, frameCount } from "./film-wish.ts";
import { type EncodedFrames, packFilm, readEncoded } from "./mp4.ts";
import { encodeStill } from "./still-video.ts";

declare const self: Worker;

export type FilmAnswer = { film: Uint8Array } | { problem: string };

const FASTEST = 10;
/** Fine enough that what stands still is found to be the same: a coarser film is smaller, and takes three times as long. */
const QUANTIZATION = 14;
const KEY_PICTURE_SECONDS = 4;
const LOWEST_TONE = 5;
const TONES = 5;

/** The package is optional; undefined where it is not installed. */
async function loadEncoder() {
  try {
    return await import("h264-mp4-encoder");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

async function encodeMoving(
  { createH264MP4Encoder }: NonNullable<Awaited<ReturnType<typeof loadEncoder>>>,
  wish: FilmWish,
): Promise<EncodedFrames> {
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
  return readEncoded(encoder.FS.readFile(encoder.outputFilename));
}

/** Without the encoder nothing moves, and the video says why. */
async function encodeFirstAndLast(wish: FilmWish): Promise<EncodedFrames> {
  const note = "a still image: h264-mp4-encoder is not installed";
  let first: Uint8Array | undefined;
  let last: Uint8Array | undefined;
  for await (const frame of animate(wish, note)) {
    first ??= frame.slice();
    if (wish.lastFrame === undefined) break;
    last = frame;
  }
  return encodeStill(wish, frameCount(wish), first ?? new Uint8Array(), last);
}

async function film(wish: FilmWish): Promise<Uint8Array> {
  const { width, height, fps } = wish;
  const encoder = await loadEncoder();
  const encoded = await (encoder ? encodeMoving(encoder, wish) : encodeFirstAndLast(wish));
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
