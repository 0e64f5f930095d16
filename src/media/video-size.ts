import { nearRatio, readRatio } from "./aspect-ratio.ts";

/** The pixels of the shorter side. Other resolutions are named by it. */
const SHORTER_SIDES: Readonly<Record<string, number>> = { "2k": 1440, "4k": 2160 };
/** Resolutions whose name is not the shorter side of the size. One vendor's high resolution has 1024 pixels. */
const NAMES: Readonly<Record<number, string>> = { 1024: "1080p", 2160: "4k" };

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"];
/** Sizes are rounded to the blocks of a codec: 832x480 and 1792x1024 are called 16:9 too. */
const SAME_SHAPE = 0.03;

/** A size such as `1280x720` as the aspect ratio and resolution that models take. */
export function readVideoSize(size: string): { aspectRatio: string; resolution: string } {
  const [width = 1, height = 1] = size.split("x").map(Number);
  const shorter = Math.min(width, height);
  return {
    aspectRatio: nearRatio(width / height, RATIOS, SAME_SHAPE) ?? `${width}:${height}`,
    resolution: NAMES[shorter] ?? `${shorter}p`,
  };
}

/** The usual size of a resolution in an aspect ratio; undefined if either is unknown. */
export function videoSizeOf(resolution: string, aspectRatio: string): string | undefined {
  const shorter = SHORTER_SIDES[resolution] ?? Number(/^(\d{3,4})p$/.exec(resolution)?.[1]);
  const ratio = readRatio(aspectRatio);
  if (!(shorter > 0) || ratio === undefined) return undefined;
  const longer = 2 * Math.round((shorter * Math.max(ratio, 1 / ratio)) / 2);
  return ratio >= 1 ? `${longer}x${shorter}` : `${shorter}x${longer}`;
}
