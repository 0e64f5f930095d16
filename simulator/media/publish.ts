import { drawPicture, type PictureOptions } from "../media-maker/draw-picture.ts";
import type { FilmOptions } from "../media-maker/film-options.ts";
import { makeFilm } from "../media-maker/make-film.ts";
import type { MediaContext } from "./media-host.ts";
import type { Outcome } from "./outcome.ts";
import { linkLifeMs } from "./play-outcome.ts";

export interface LinkLife {
  outcome: Outcome | undefined;
  keptMs: number;
}

/** A link to a picture that is drawn when it is fetched. */
export function publishPicture(context: MediaContext, options: PictureOptions, { outcome, keptMs }: LinkLife): string {
  const life = linkLifeMs(outcome, keptMs);
  return context.links.publish(context.baseUrl, () => drawPicture(options), `image/${options.format}`, life);
}

/** The picture itself, in base64. */
export async function encodePicture(options: PictureOptions): Promise<string> {
  return Buffer.from(await drawPicture(options)).toString("base64");
}

/** A link to a film that is made when it is fetched. */
export function publishFilm(context: MediaContext, options: FilmOptions, { outcome, keptMs }: LinkLife): string {
  return context.links.publish(context.baseUrl, () => makeFilm(options), "video/mp4", linkLifeMs(outcome, keptMs));
}
