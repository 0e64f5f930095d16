import type { ImageSize } from "../sniff-image.ts";

const MIN_SIDE = 64;
const MAX_SIDE = 4096;

/** Of `1024x768`, `1024*768` or `1024:768`. */
export function parseSize(text: string, separator: "x" | "*" | ":"): ImageSize | undefined {
  const [width, height, ...more] = text.split(separator);
  if (width === undefined || height === undefined || more.length > 0) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(width) || !/^[1-9]\d{0,4}$/.test(height)) return undefined;
  return { width: Number(width), height: Number(height) };
}

/** The value of a ratio such as `16:9` or `19.5:9`; undefined if invalid. */
export function proportionOf(ratio: string): number | undefined {
  const [, wide = "", high = ""] = /^(\d{1,2}(?:\.\d)?):(\d{1,2}(?:\.\d)?)$/.exec(ratio) ?? [];
  const proportion = Number(wide) / Number(high);
  return proportion > 0 && Number.isFinite(proportion) ? proportion : undefined;
}

/** A ratio of at most 3:1, in either direction. */
export function ratioWithin3({ width, height }: ImageSize): ImageSize {
  return { width: Math.min(3, Math.max(1 / 3, width / height)), height: 1 };
}

/** What can be drawn: a side of 64 to 4096 pixels, in steps. */
function drawable(pixels: number, step: number): number {
  return Math.min(MAX_SIDE, Math.max(MIN_SIDE, Math.round(pixels / step) * step));
}

/** Whether a size that a client chose can be drawn: a side may be longer where the other is so much shorter. */
export function isDrawable({ width, height }: ImageSize): boolean {
  return Math.min(width, height) >= MIN_SIDE && width * height <= MAX_SIDE ** 2;
}

/** As parseSize, and undefined for a size that cannot be drawn. */
export function parseDrawable(text: string, separator: "x" | "*" | ":"): ImageSize | undefined {
  const size = parseSize(text, separator);
  return size !== undefined && isDrawable(size) ? size : undefined;
}

/** The size with that ratio and about this many pixels, in steps of 16. */
export function sizeOfArea(ratio: ImageSize, pixels: number): ImageSize {
  const width = Math.sqrt((pixels * ratio.width) / ratio.height);
  return { width: drawable(width, 16), height: drawable(pixels / width, 16) };
}

/** The size of that ratio whose shorter side has so many pixels, as videos are named: 720p. Sides are even at the least. */
export function sizeOfShortSide(ratio: ImageSize, pixels: number, step = 2): ImageSize {
  const scale = pixels / Math.min(ratio.width, ratio.height);
  return { width: drawable(ratio.width * scale, step), height: drawable(ratio.height * scale, step) };
}

export const atLeast = (size: ImageSize, pixels: number): boolean => size.width * size.height >= pixels;
export const atMost = (size: ImageSize, pixels: number): boolean => size.width * size.height <= pixels;
