/** Runs in a thread of its own, for one video after the other: see make-video.ts. */
import { toneFrame } from "./aac-tone.ts";
import { drawShot, setScene, shotsOf } from "./animation.ts";
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

/** Without the encoder nothing moves, and the video says why. */
async function encodeFirstAndLast(options: VideoOptions): Promise<EncodedFrames> {
  const scene = await setScene(options, "a still image: h264-mp4-encoder is not installed");
  const [first = new Uint8Array()] = drawShot(scene, { drawn: 1, shown: 1, opens: true, closes: false });
  const [last] = options.lastFrame ? drawShot(scene, { drawn: 1, shown: 1, opens: false, closes: true }) : [];
  return encodeStill(options, frameCount(options), first, last);
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
