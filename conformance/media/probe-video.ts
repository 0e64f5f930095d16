import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMp4 } from "../../simulator/media-maker/read-mp4.sample.ts";
import { isOptional } from "../../testing/is-present.ts";

/** What a player finds in a video. */
export interface VideoFacts {
  width: number;
  height: number;
  seconds: number;
  fps: number;
  sound: boolean;
}

const MAX_WAIT_MS = 20_000;

const THUMBNAIL = { width: 64, height: 36 };
const THUMBNAIL_BYTES = THUMBNAIL.width * THUMBNAIL.height * 3;

/** Whether frames can be decoded (see `isOptional`). */
export const canDecodeFrames = (): boolean =>
  isOptional(Bun.which("ffmpeg") !== null, "first and last frames are not compared: ffmpeg is not installed");

/** Some frames of a video, or the one of an image, as small as thumbnails. */
function thumbnails(media: Uint8Array, ...chosen: number[]): Uint8Array[] {
  return withFile(media, (file) => {
    // The others are not scaled, which would take most of the time.
    const select = `select=${chosen.map((index) => `eq(n\\,${index})`).join("+")},`;
    const filters = `${select}scale=${THUMBNAIL.width}:${THUMBNAIL.height}`;
    const raw = ["-vf", filters, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"];
    const { stdout, stderr, success } = Bun.spawnSync(["ffmpeg", "-v", "error", "-threads", "1", "-i", file, ...raw], {
      timeout: MAX_WAIT_MS,
    });
    if (!success) throw new Error(`ffmpeg refused a video: ${stderr.toString()}`);
    const count = Math.floor(stdout.length / THUMBNAIL_BYTES);
    return Array.from({ length: count }, (_, at) => stdout.subarray(at * THUMBNAIL_BYTES, (at + 1) * THUMBNAIL_BYTES));
  });
}

/** The ends of a video, to be compared with images. */
export class VideoEnds {
  readonly #first: Uint8Array;
  readonly #last: Uint8Array;

  constructor(video: Uint8Array) {
    const { frames } = readMp4(video);
    const [first, last] = thumbnails(video, 0, frames - 1);
    if (first === undefined || last === undefined) throw new Error("ffmpeg found no frames");
    this.#first = first;
    this.#last = last;
  }

  /** How far the video's first frame is from an image, from 0 to 255. */
  distanceOfFirst(image: ImageThumbnail): number {
    return distance(this.#first, image.bytes);
  }

  distanceOfLast(image: ImageThumbnail): number {
    return distance(this.#last, image.bytes);
  }
}

export class ImageThumbnail {
  readonly bytes: Uint8Array;

  constructor(image: Uint8Array) {
    this.bytes = thumbnails(image, 0)[0] ?? new Uint8Array();
  }
}

const distance = (one: Uint8Array, other: Uint8Array): number =>
  one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0) / THUMBNAIL_BYTES;

export function probeVideo(video: Uint8Array): VideoFacts {
  const { width, height, seconds, fps, codecs } = readMp4(video);
  return {
    width,
    height,
    seconds: Math.round(seconds * 10) / 10,
    fps: Math.round(fps),
    sound: codecs.some((codec) => codec.startsWith("mp4a")),
  };
}

function withFile<T>(media: Uint8Array, use: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "trivium-video-"));
  try {
    const file = join(folder, "media");
    writeFileSync(file, media);
    return use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
