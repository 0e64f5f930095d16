import type { Pricings } from "./model.ts";
import { itemsAtResolution } from "./resolution-prices.ts";

/** What the price of a video depends on, apart from its length. */
interface VideoKind {
  /** Such as `720p`. */
  resolution: string;
  audio: boolean;
}

/**
 * The prices that apply to a video of this kind: the price with or without sound, at its resolution. If the model has only the
 * other one, that is charged under its own name, so that the receipt shows it.
 */
export function pricingsOfVideo(pricings: Pricings, { resolution, audio }: VideoKind): Pricings {
  const { video = [], audio_and_video = [], ...others } = pricings;
  const withSound = audio ? audio_and_video.length > 0 : video.length === 0;
  return withSound
    ? { ...others, audio_and_video: itemsAtResolution(audio_and_video, resolution) }
    : { ...others, video: itemsAtResolution(video, resolution) };
}
