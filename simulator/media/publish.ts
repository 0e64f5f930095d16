import { drawImage } from "../media-maker/draw-image.ts";
import type { ImageOptions } from "../media-maker/paint-image.ts";
import type { VideoOptions } from "../media-maker/video-options.ts";
import type { MediaContext } from "./media-host.ts";
import type { Outcome } from "./outcome.ts";
import { linkLifeMs } from "./play-outcome.ts";

interface LinkLife {
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

/** A link to a video that is made when it is fetched. */
export function publishVideo(context: MediaContext, options: VideoOptions, { outcome, keptMs }: LinkLife): string {
  return context.links.publish(
    context.baseUrl,
    () => context.makeVideo(options),
    "video/mp4",
    linkLifeMs(outcome, keptMs),
  );
}
