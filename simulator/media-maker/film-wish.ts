import { checkSide } from "./draw-picture.ts";

const MOST_FRAMES = 1800;

export interface FilmWish {
  prompt: string;
  width: number;
  height: number;
  seconds: number;
  fps: number;
  /** Decides colours, shapes and the pitch of the tone. */
  seed: number;
  audio: boolean;
  /** Encoded pictures of any size. The film begins with the one and ends with the other. */
  firstFrame?: Uint8Array;
  lastFrame?: Uint8Array;
}

export function frameCount(wish: FilmWish): number {
  return Math.round(wish.seconds * wish.fps);
}

/** Throws where no film can be made. */
export function checkFilmWish(wish: FilmWish): void {
  for (const name of ["width", "height"] as const) {
    checkSide(name, wish[name]);
    if (wish[name] % 2 !== 0) throw new RangeError(`${name} must be even in a film, not ${wish[name]}`);
  }
  if (!(wish.fps >= 1 && wish.fps <= 60)) throw new RangeError(`fps must be from 1 to 60, not ${wish.fps}`);
  const frames = frameCount(wish);
  if (!(frames >= 1 && frames <= MOST_FRAMES)) {
    throw new RangeError(`seconds times fps must be from 1 to ${MOST_FRAMES} frames, not ${frames}`);
  }
}
