import { drawPicture, type PictureWish } from "../media-maker/draw-picture.ts";
import type { FilmWish } from "../media-maker/film-wish.ts";
import { makeFilm } from "../media-maker/make-film.ts";
import type { Fate } from "./fate.ts";
import type { MediaContext } from "./media-host.ts";
import { linkLifeMs } from "./play-fate.ts";

export interface LinkLife {
  fate: Fate | undefined;
  keptMs: number;
}

/** A link to a picture that is drawn when it is fetched. */
export function publishPicture(context: MediaContext, wish: PictureWish, { fate, keptMs }: LinkLife): string {
  const life = linkLifeMs(fate, keptMs);
  return context.links.publish(context.baseUrl, () => drawPicture(wish), `image/${wish.format}`, life);
}

/** The picture itself, in base64. */
export async function encodePicture(wish: PictureWish): Promise<string> {
  return Buffer.from(await drawPicture(wish)).toString("base64");
}

/** A link to a film that is made when it is fetched. */
export function publishFilm(context: MediaContext, wish: FilmWish, { fate, keptMs }: LinkLife): string {
  return context.links.publish(context.baseUrl, () => makeFilm(wish), "video/mp4", linkLifeMs(fate, keptMs));
}
