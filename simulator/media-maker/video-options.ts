import { checkSide } from "./paint-image.ts";

const MAX_FRAMES = 1800;

export interface VideoOptions {
  prompt: string;
  width: number;
  height: number;
  seconds: number;
  fps: number;
  /** Decides colours, shapes and the pitch of the tone. */
  seed: number;
  audio: boolean;
  /** Encoded images of any size. The video begins with the one and ends with the other. */
  firstFrame?: Uint8Array;
  lastFrame?: Uint8Array;
}

/** Makes a video, which begins with its boxes and ends with its frames. */
export type MakeVideo = (options: VideoOptions) => Promise<Uint8Array>;

export function frameCount(options: VideoOptions): number {
  return Math.round(options.seconds * options.fps);
}

/** Throws where no video can be made. */
export function checkVideoOptions(options: VideoOptions): void {
  for (const name of ["width", "height"] as const) {
    checkSide(name, options[name]);
    if (options[name] % 2 !== 0) throw new RangeError(`${name} must be even in a video, not ${options[name]}`);
  }
  if (!(options.fps >= 1 && options.fps <= 60)) throw new RangeError(`fps must be from 1 to 60, not ${options.fps}`);
  const frames = frameCount(options);
  if (!(frames >= 1 && frames <= MAX_FRAMES)) {
    throw new RangeError(`seconds times fps must be from 1 to ${MAX_FRAMES} frames, not ${frames}`);
  }
}
