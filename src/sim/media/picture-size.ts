import type { ImageSize } from "../sniff-image.ts";

const SMALLEST_SIDE = 64;
const LARGEST_SIDE = 4096;

/** Of `1024x768`, `1024*768` or `1024:768`. */
export function parseSize(text: string, separator: "x" | "*" | ":"): ImageSize | undefined {
  const [width, height, ...more] = text.split(separator);
  if (width === undefined || height === undefined || more.length > 0) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(width) || !/^[1-9]\d{0,4}$/.test(height)) return undefined;
  return { width: Number(width), height: Number(height) };
}

/** What can be drawn: a side of 64 to 4096 pixels, in steps. */
function drawable(pixels: number, step: number): number {
  return Math.min(LARGEST_SIDE, Math.max(SMALLEST_SIDE, Math.round(pixels / step) * step));
}

export function isDrawable({ width, height }: ImageSize): boolean {
  return Math.min(width, height) >= SMALLEST_SIDE && Math.max(width, height) <= LARGEST_SIDE;
}

/** The size of that ratio that has about so many pixels, in steps of 16. */
export function sizeOfArea(ratio: ImageSize, pixels: number): ImageSize {
  const width = Math.sqrt((pixels * ratio.width) / ratio.height);
  return { width: drawable(width, 16), height: drawable(pixels / width, 16) };
}

/** The size of that ratio whose shorter side has so many pixels, as films are named: 720p. Both sides are even. */
export function sizeOfShortSide(ratio: ImageSize, pixels: number): ImageSize {
  const scale = pixels / Math.min(ratio.width, ratio.height);
  return { width: drawable(ratio.width * scale, 2), height: drawable(ratio.height * scale, 2) };
}

export const atLeast = (size: ImageSize, pixels: number): boolean => size.width * size.height >= pixels;
export const atMost = (size: ImageSize, pixels: number): boolean => size.width * size.height <= pixels;
