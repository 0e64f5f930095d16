import { IMAGE_TIERS } from "./image.ts";
import type { ImageCall } from "./image-call.ts";

/** A size in one word, as clients write it: `1024x1536`, `auto`, or a level such as `2K`. */
export const SIZE_WORD = "^(?:auto|[124][kK]|[1-9][0-9]{0,4}[xX][1-9][0-9]{0,4})$";

/** The parsed size; undefined if the word is not one. */
export function readSize(word: string): Pick<ImageCall, "size" | "tier"> | undefined {
  if (word === "auto") return { size: "auto" };
  const tier = IMAGE_TIERS.find((one) => one === word.toUpperCase());
  if (tier !== undefined) return { tier };
  const [width, height] = word.split(/x/i).map(Number);
  return width === undefined || height === undefined ? undefined : { size: { width, height } };
}
