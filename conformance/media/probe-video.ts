import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMp4 } from "../../simulator/media-maker/read-mp4.sample.ts";

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

/** False where frames cannot be decoded, which fails in continuous integration. */
export function canDecodeFrames(): boolean {
  if (Bun.which("ffmpeg") !== null) return true;
  const message = "first and last frames are not compared: ffmpeg is not installed";
  if (process.env["CI"] === "true") throw new Error(message);
  console.log(`skipped: ${message}`);
  return false;
}

/** The frames of a video, or the one of an image, as small as thumbnails. */
function thumbnails(media: Uint8Array): Uint8Array[] {
  return withFile(media, (file) => {
    const small = ["-vf", `scale=${THUMBNAIL.width}:${THUMBNAIL.height}`, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"];
    const { stdout, stderr, success } = Bun.spawnSync(["ffmpeg", "-v", "error", "-i", file, ...small], {
      timeout: MAX_WAIT_MS,
    });
    if (!success) throw new Error(`ffmpeg refused a video: ${stderr.toString()}`);
    const count = Math.floor(stdout.length / THUMBNAIL_BYTES);
    return Array.from({ length: count }, (_, at) => stdout.subarray(at * THUMBNAIL_BYTES, (at + 1) * THUMBNAIL_BYTES));
  });
}

/** How far each end of a video is from an image, from 0 to 255. */
export function distances(video: Uint8Array, image: Uint8Array): { begin: number; end: number } {
  const frames = thumbnails(video);
  const [wanted] = thumbnails(image);
  const distance = (frame: Uint8Array | undefined) =>
    (wanted ?? new Uint8Array()).reduce((sum, value, at) => sum + Math.abs(value - (frame?.[at] ?? 0)), 0) /
    THUMBNAIL_BYTES;
  return { begin: distance(frames[0]), end: distance(frames.at(-1)) };
}

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
