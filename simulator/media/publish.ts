import { drawImage, type ImageOptions } from "../media-maker/draw-image.ts";
import type { FilmOptions } from "../media-maker/film-options.ts";
import { makeFilm } from "../media-maker/make-film.ts";
import type { MediaContext } from "./media-host.ts";
import type { Outcome } from "./outcome.ts";
import { linkLifeMs } from "./play-outcome.ts";

export interface LinkLife {
  outcome: Outcome | undefined;
  keptMs: number;
}

/** A link to an image that is drawn when it is fetched. */
export function publishImage(context: MediaContext, options: ImageOptions, { outcome, keptMs }: LinkLife): string {
  const life = linkLifeMs(outcome, keptMs);
  return context.links.publish(context.baseUrl, () => drawImage(options), `image/${options.format}`, life);
}

/** The image itself, in base64. */
export async function encodeImage(options: ImageOptions): Promise<string> {
  return Buffer.from(await drawImage(options)).toString("base64");
}

/** A link to a film that is made when it is fetched. */
export function publishFilm(context: MediaContext, options: FilmOptions, { outcome, keptMs }: LinkLife): string {
  return context.links.publish(context.baseUrl, () => makeFilm(options), "video/mp4", linkLifeMs(outcome, keptMs));
}
