/** Runs in a thread of its own, for one video: see make-video.ts. */
import { toneFrame } from "./aac-tone.ts";
import { animate } from "./animation.ts";
import { type EncodedFrames, packVideo, readEncoded } from "./mp4.ts";
import { encodeStill } from "./still-video.ts";
import { frameCount, type VideoOptions } from "./video-options.ts";

declare const self: Worker;

export type VideoAnswer = { video: Uint8Array } | { problem: string };

const FASTEST = 10;
/** Fine enough that what stands still is found to be the same: a coarser video is smaller, and takes three times as long. */
const QUANTIZATION = 14;
const KEY_FRAME_SECONDS = 4;
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
  options: VideoOptions,
): Promise<EncodedFrames> {
  const encoder = await createH264MP4Encoder();
  encoder.width = options.width;
  encoder.height = options.height;
  encoder.frameRate = options.fps;
  encoder.speed = FASTEST;
  encoder.quantizationParameter = QUANTIZATION;
  encoder.groupOfPictures = Math.ceil(options.fps * KEY_FRAME_SECONDS);
  encoder.initialize();
  for await (const frame of animate(options)) encoder.addFrameYuv(frame);
  encoder.finalize();
  return readEncoded(encoder.FS.readFile(encoder.outputFilename));
}

/** Without the encoder nothing moves, and the video says why. */
async function encodeFirstAndLast(options: VideoOptions): Promise<EncodedFrames> {
  const note = "a still image: h264-mp4-encoder is not installed";
  let first: Uint8Array | undefined;
  let last: Uint8Array | undefined;
  for await (const frame of animate(options, note)) {
    first ??= frame.slice();
    if (options.lastFrame === undefined) break;
    last = frame;
  }
  return encodeStill(options, frameCount(options), first ?? new Uint8Array(), last);
}

async function video(options: VideoOptions): Promise<Uint8Array> {
  const { width, height, fps } = options;
  const encoder = await loadEncoder();
  const encoded = await (encoder ? encodeMoving(encoder, options) : encodeFirstAndLast(options));
  const tone = options.audio ? { tone: toneFrame(LOWEST_TONE + (Math.abs(options.seed) % TONES)) } : {};
  return packVideo({ encoded, width, height, fps, ...tone });
}

self.onmessage = async (event: MessageEvent<VideoOptions>) => {
  try {
    self.postMessage({ video: await video(event.data) } satisfies VideoAnswer);
  } catch (error) {
    // An error does not cross to another thread whole; its words do.
    self.postMessage({ problem: error instanceof Error ? error.message : String(error) } satisfies VideoAnswer);
  }
};
