/** Runs in a separate thread and renders one video at a time: see make-video.ts. */
import { drawShot, setScene, shotsOf } from "./animation.ts";
import { makeStillVideo } from "./make-still-video.ts";
import { type EncodedFrames, packVideo, readEncoded } from "./mp4.ts";
import { toneOf } from "./tone-of.ts";
import type { VideoOptions } from "./video-options.ts";

declare const self: Worker;

export type VideoAnswer = { video: Uint8Array } | { problem: string };

const FASTEST = 10;
/** Fine enough that what stands still is found to be the same: a coarser video is smaller, and takes three times as long. */
const QUANTIZATION = 14;
const KEY_FRAME_SECONDS = 4;
/** Without the encoder nothing moves, and the video says why. */
const NOTHING_MOVES = "a still image: h264-mp4-encoder is not installed";

/** The package is optional; undefined where it is not installed. */
async function loadEncoder() {
  try {
    return await import("h264-mp4-encoder");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

type Encoder = NonNullable<Awaited<ReturnType<typeof loadEncoder>>>;

/** Each shot begins with a key frame, so that shots follow one another, and a shot itself, in any order. */
async function encodeMoving(encoder: Encoder, options: VideoOptions): Promise<EncodedFrames> {
  const scene = await setScene(options);
  const frames: Uint8Array[] = [];
  let entry = new Uint8Array();
  for (const shot of shotsOf(scene)) {
    const encoded = await encodeShot(encoder, options, drawShot(scene, shot));
    if (encoded.frames.length !== shot.drawn) {
      throw new Error(`the encoder made ${encoded.frames.length} frames of ${shot.drawn}`);
    }
    for (let left = shot.shown; left > 0; left -= shot.drawn) frames.push(...encoded.frames.slice(0, left));
    entry = Uint8Array.from(encoded.entry);
  }
  return { frames, entry };
}

async function encodeShot(
  { createH264MP4Encoder }: Encoder,
  options: VideoOptions,
  frames: Iterable<Uint8Array>,
): Promise<EncodedFrames> {
  const encoder = await createH264MP4Encoder();
  encoder.width = options.width;
  encoder.height = options.height;
  encoder.frameRate = options.fps;
  encoder.speed = FASTEST;
  encoder.quantizationParameter = QUANTIZATION;
  encoder.groupOfPictures = Math.ceil(options.fps * KEY_FRAME_SECONDS);
  encoder.initialize();
  for (const frame of frames) encoder.addFrameYuv(frame);
  encoder.finalize();
  const file = encoder.FS.readFile(encoder.outputFilename);
  encoder.FS.unlink(encoder.outputFilename);
  encoder.delete();
  return readEncoded(file);
}

async function video(options: VideoOptions): Promise<Uint8Array> {
  const encoder = await loadEncoder();
  if (encoder === undefined) return makeStillVideo(options, NOTHING_MOVES);
  const { width, height, fps } = options;
  return packVideo({ encoded: await encodeMoving(encoder, options), width, height, fps, ...toneOf(options) });
}

self.onmessage = async (event: MessageEvent<VideoOptions>) => {
  try {
    self.postMessage({ video: await video(event.data) } satisfies VideoAnswer);
  } catch (error) {
    // An error does not cross to another thread whole; its words do.
    self.postMessage({ problem: error instanceof Error ? error.message : String(error) } satisfies VideoAnswer);
  }
};
