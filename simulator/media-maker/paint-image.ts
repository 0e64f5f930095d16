import { Canvas } from "./canvas.ts";
import { encodePng } from "./png.ts";
import { paintCaption, paintShapes, paintSky } from "./scene.ts";

const MIN_SIDE = 64;
const MAX_SIDE = 16_384;
const MAX_PIXELS = 4096 * 4096;

export interface ImageOptions {
  prompt: string;
  width: number;
  height: number;
  /** Decides colours and shapes. */
  seed: number;
  format: "png" | "jpeg" | "webp";
  /** From 1 to 100, for jpeg and webp. */
  quality?: number;
  /** A transparent background. JPEG ignores it. */
  transparent?: boolean;
  /** The number of input images. */
  inputs?: number;
  /** One more line of text, such as the name of the model. */
  note?: string;
}

/** A side that an image or video can have, or an error that says which it is. */
export function checkSide(name: string, pixels: number): void {
  if (Number.isInteger(pixels) && pixels >= MIN_SIDE && pixels <= MAX_SIDE) return;
  throw new RangeError(`${name} must be a whole number from ${MIN_SIDE} to ${MAX_SIDE}, not ${pixels}`);
}

function facts(options: ImageOptions): string[] {
  const inputs = options.inputs ?? 0;
  return [
    ...(options.note === undefined ? [] : [options.note]),
    ...(inputs === 0 ? [] : [`from ${inputs} image${inputs === 1 ? "" : "s"}`]),
    `${options.width}x${options.height} seed ${options.seed}`,
  ];
}

/** The same options give the same bytes. */
export async function paintImage(options: ImageOptions): Promise<Uint8Array> {
  checkSide("width", options.width);
  checkSide("height", options.height);
  if (options.width * options.height > MAX_PIXELS) throw new RangeError(`at most ${MAX_PIXELS} pixels can be drawn`);
  const transparent = options.transparent === true && options.format !== "jpeg";
  const canvas = new Canvas(options.width, options.height);
  if (!transparent) paintSky(canvas, options.seed);
  paintShapes(canvas, options.seed);
  paintCaption(canvas, { prompt: options.prompt, facts: facts(options) });

  const png = await encodePng(canvas, transparent);
  const quality = options.quality === undefined ? {} : { quality: options.quality };
  if (options.format === "jpeg") return new Bun.Image(png).jpeg(quality).bytes();
  if (options.format === "webp") return new Bun.Image(png).webp(quality).bytes();
  return png;
}
