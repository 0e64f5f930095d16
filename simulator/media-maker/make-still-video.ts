import { drawShot, setScene } from "./animation.ts";
import { packVideo } from "./mp4.ts";
import { encodeStill } from "./still-video.ts";
import { toneOf } from "./tone-of.ts";
import { checkVideoOptions, frameCount, type VideoOptions } from "./video-options.ts";

/**
 * A video without an encoder, at a fraction of the time: one image from begin to end, or up to the last frame that was given.
 * Size, length, frames and sound are those of one that moves. `note` is written into it.
 */
export async function makeStillVideo(options: VideoOptions, note?: string): Promise<Uint8Array> {
  checkVideoOptions(options);
  const { width, height, fps } = options;
  const scene = await setScene(options, note);
  const [first = new Uint8Array()] = drawShot(scene, { drawn: 1, shown: 1, opens: true, closes: false });
  const [last] = options.lastFrame ? drawShot(scene, { drawn: 1, shown: 1, opens: false, closes: true }) : [];
  const encoded = encodeStill(options, frameCount(options), first, last);
  return packVideo({ encoded, width, height, fps, ...toneOf(options) });
}
