import type { ImageSize } from "../../../sniff-image.ts";

const SHORTEST_SIDE = 64;
const LONGEST_SIDE = 4_096;

/** Of `1024x768`; undefined where the text is no size, or one that the simulator cannot draw. */
export function parseMeasures(text: string): ImageSize | undefined {
  const [, first = "", second = ""] = /^(\d{1,4})x(\d{1,4})$/.exec(text) ?? [];
  const [width, height] = [Number(first), Number(second)];
  const drawable = Math.min(width, height) >= SHORTEST_SIDE && Math.max(width, height) <= LONGEST_SIDE;
  return drawable ? { width, height } : undefined;
}

/** The proportion that `16:9` or `19.5:9` names; undefined where the text is no ratio. */
export function proportionOf(ratio: string): number | undefined {
  const [, wide = "", high = ""] = /^(\d{1,2}(?:\.\d)?):(\d{1,2}(?:\.\d)?)$/.exec(ratio) ?? [];
  const proportion = Number(wide) / Number(high);
  return proportion > 0 && Number.isFinite(proportion) ? proportion : undefined;
}

/** `16:9` with a short side of 720 is 1280x720. Sides are multiples of 16, which films and pictures can both have. */
export function measuresFor(proportion: number, shortSide: number): ImageSize {
  const side = (pixels: number): number =>
    Math.min(LONGEST_SIDE, Math.max(SHORTEST_SIDE, Math.round(pixels / 16) * 16));
  return proportion >= 1
    ? { width: side(shortSide * proportion), height: side(shortSide) }
    : { width: side(shortSide), height: side(shortSide / proportion) };
}
