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

/** False where films cannot be judged here, which continuous integration does not let pass. */
export function canProbe(): boolean {
  if (Bun.which("ffprobe") !== null) return true;
  if (process.env["CI"] === "true") throw new Error("ffprobe is not installed, and films cannot be judged without it.");
  console.log("Films are not looked into: ffprobe is not installed.");
  return false;
}

export function probeFilm(film: Uint8Array): FilmFacts {
  const folder = mkdtempSync(join(tmpdir(), "trivium-film-"));
  try {
    const file = join(folder, "film.mp4");
    writeFileSync(file, film);
    const asked = ["-v", "error", "-show_streams", "-show_format", "-of", "json", file];
    const { stdout, stderr, success } = Bun.spawnSync(["ffprobe", ...asked], { timeout: LONGEST_MS });
    // What a player has to complain about is a fault, even where it goes on.
    if (!success || stderr.length > 0) throw new Error(`ffprobe refused a film: ${stderr.toString()}`);
    return factsOf(JSON.parse(stdout.toString()) as Probed);
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
