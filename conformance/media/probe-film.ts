import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a player finds in a film. */
export interface FilmFacts {
  width: number;
  height: number;
  seconds: number;
  fps: number;
  sound: boolean;
}

interface Probed {
  streams: { codec_type: string; width?: number; height?: number; r_frame_rate?: string }[];
  format: { duration: string };
}

const LONGEST_MS = 20_000;

const THUMBNAIL = { width: 64, height: 36 };
const THUMBNAIL_BYTES = THUMBNAIL.width * THUMBNAIL.height * 3;

/** False where films cannot be judged here, which continuous integration does not let pass. */
export function canProbe(): boolean {
  const missing = ["ffprobe", "ffmpeg"].filter((program) => Bun.which(program) === null);
  if (missing.length === 0) return true;
  const message = `Films cannot be judged: ${missing.join(" and ")} is not installed.`;
  if (process.env["CI"] === "true") throw new Error(message);
  console.log(message);
  return false;
}

/** The frames of a film, or the one of a picture, as small as thumbnails. */
function thumbnails(media: Uint8Array): Uint8Array[] {
  return withFile(media, (file) => {
    const small = ["-vf", `scale=${THUMBNAIL.width}:${THUMBNAIL.height}`, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"];
    const { stdout, stderr, success } = Bun.spawnSync(["ffmpeg", "-v", "error", "-i", file, ...small], {
      timeout: LONGEST_MS,
    });
    if (!success) throw new Error(`ffmpeg refused a film: ${stderr.toString()}`);
    const count = Math.floor(stdout.length / THUMBNAIL_BYTES);
    return Array.from({ length: count }, (_, at) => stdout.subarray(at * THUMBNAIL_BYTES, (at + 1) * THUMBNAIL_BYTES));
  });
}

/** How far each end of a film is from a picture, from 0 to 255. */
export function distances(film: Uint8Array, picture: Uint8Array): { begin: number; end: number } {
  const frames = thumbnails(film);
  const [wanted] = thumbnails(picture);
  const distance = (frame: Uint8Array | undefined) =>
    (wanted ?? new Uint8Array()).reduce((sum, value, at) => sum + Math.abs(value - (frame?.[at] ?? 0)), 0) /
    THUMBNAIL_BYTES;
  return { begin: distance(frames[0]), end: distance(frames.at(-1)) };
}

export function probeFilm(film: Uint8Array): FilmFacts {
  return withFile(film, (file) => {
    const asked = ["-v", "error", "-show_streams", "-show_format", "-of", "json", file];
    const { stdout, stderr, success } = Bun.spawnSync(["ffprobe", ...asked], { timeout: LONGEST_MS });
    // What a player has to complain about is a fault, even where it goes on.
    if (!success || stderr.length > 0) throw new Error(`ffprobe refused a film: ${stderr.toString()}`);
    return factsOf(JSON.parse(stdout.toString()) as Probed);
  });
}

function withFile<T>(media: Uint8Array, use: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "trivium-film-"));
  try {
    const file = join(folder, "media");
    writeFileSync(file, media);
    return use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function factsOf({ streams, format }: Probed): FilmFacts {
  const picture = streams.find(({ codec_type }) => codec_type === "video");
  const [frames = 0, seconds = 1] = (picture?.r_frame_rate ?? "").split("/").map(Number);
  return {
    width: picture?.width ?? 0,
    height: picture?.height ?? 0,
    seconds: Math.round(Number(format.duration) * 10) / 10,
    fps: Math.round(frames / seconds),
    sound: streams.some(({ codec_type }) => codec_type === "audio"),
  };
}
