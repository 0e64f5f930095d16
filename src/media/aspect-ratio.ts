import type { PixelSize } from "./image.ts";

/** `16:9` as a number; undefined if the text is not a ratio. */
export function readRatio(text: string): number | undefined {
  const match = /^(\d{1,4})[:/x](\d{1,4})$/.exec(text);
  const [width, height] = [Number(match?.[1]), Number(match?.[2])];
  return match && width > 0 && height > 0 ? width / height : undefined;
}

export const ratioOf = ({ width, height }: PixelSize): number => width / height;

/** The distance between two shapes: twice as wide is as far as twice as high. */
export const ratioDistance = (one: number, other: number): number => Math.abs(Math.log(one / other));

/** The one of several ratios that is the same shape, however it is written: `32:18` is `16:9`. */
export function sameRatio(wanted: string, ratios: readonly string[]): string | undefined {
  if (ratios.includes(wanted)) return wanted;
  const value = readRatio(wanted);
  return value === undefined ? undefined : nearRatio(value, ratios, 1e-6);
}

/** The nearest of several ratios, within this distance. */
export function nearRatio(wanted: number, ratios: readonly string[], within: number): string | undefined {
  let best: string | undefined;
  let distance = within;
  for (const ratio of ratios) {
    const value = readRatio(ratio);
    if (value === undefined || ratioDistance(value, wanted) > distance) continue;
    best = ratio;
    distance = ratioDistance(value, wanted);
  }
  return best;
}
