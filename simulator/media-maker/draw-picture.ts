import { Canvas } from "./canvas.ts";
import { encodePng } from "./png.ts";
import { paintCaption, paintShapes, paintSky } from "./scene.ts";

const SMALLEST_SIDE = 64;
const LARGEST_SIDE = 16_384;
const MOST_PIXELS = 4096 * 4096;

export interface PictureWish {
  prompt: string;
  width: number;
  height: number;
  /** Decides colours and shapes. */
  seed: number;
  format: "png" | "jpeg" | "webp";
  /** From 1 to 100, for jpeg and webp. */
  quality?: number;
  /** No sky behind the shapes. Nothing to jpeg, which cannot say so. */
  transparent?: boolean;
  /** How many pictures the request came with. */
  inputs?: number;
  /** One more line of text, such as the name of the model. */
  note?: string;
}

/** A side that a picture or film can have, or an error that says which it is. */
export function checkSide(name: string, pixels: number): void {
  if (Number.isInteger(pixels) && pixels >= SMALLEST_SIDE && pixels <= LARGEST_SIDE) return;
  throw new RangeError(`${name} must be a whole number from ${SMALLEST_SIDE} to ${LARGEST_SIDE}, not ${pixels}`);
}

function facts(wish: PictureWish): string[] {
  const inputs = wish.inputs ?? 0;
  return [
    ...(wish.note === undefined ? [] : [wish.note]),
    ...(inputs === 0 ? [] : [`from ${inputs} picture${inputs === 1 ? "" : "s"}`]),
    `${wish.width}x${wish.height} seed ${wish.seed}`,
  ];
}

/** A real picture that nobody could take for a model's: it says what was asked for. The same wish gives the same bytes. */
export async function drawPicture(wish: PictureWish): Promise<Uint8Array> {
  checkSide("width", wish.width);
  checkSide("height", wish.height);
  if (wish.width * wish.height > MOST_PIXELS) throw new RangeError(`at most ${MOST_PIXELS} pixels can be drawn`);
  const transparent = wish.transparent === true && wish.format !== "jpeg";
  const canvas = new Canvas(wish.width, wish.height);
  if (!transparent) paintSky(canvas, wish.seed);
  paintShapes(canvas, wish.seed);
  paintCaption(canvas, { prompt: wish.prompt, facts: facts(wish) });

  const png = await encodePng(canvas, transparent);
  const quality = wish.quality === undefined ? {} : { quality: wish.quality };
  if (wish.format === "jpeg") return new Bun.Image(png).jpeg(quality).bytes();
  if (wish.format === "webp") return new Bun.Image(png).webp(quality).bytes();
  return png;
}
