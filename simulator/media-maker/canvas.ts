import { CHARACTER_STEP, GLYPH_WIDTH, glyphRows, LINE_STEP } from "./glyphs.ts";

/** Red, green, blue and opacity, from 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Pixels in memory. Nothing is drawn outside the canvas; nothing is blended. */
export class Canvas {
  readonly width: number;
  readonly height: number;
  /** Four bytes for each pixel: red, green, blue, opacity. */
  readonly bytes: Uint8Array;
  readonly #pixels: Uint32Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.bytes = new Uint8Array(width * height * 4);
    this.#pixels = new Uint32Array(this.bytes.buffer);
  }

  fill(rectangle: Rectangle, colour: Colour): void {
    const value = pixelOf(colour);
    const { x, y, width, height } = this.clip(rectangle);
    // Rows are contiguous.
    if (width === this.width) this.#pixels.fill(value, y * width, (y + height) * width);
    else
      for (let row = y; row < y + height; row++)
        this.#pixels.fill(value, row * this.width + x, row * this.width + x + width);
  }

  disc(centreX: number, centreY: number, radius: number, colour: Colour): void {
    for (let row = Math.ceil(centreY - radius); row <= centreY + radius; row++) {
      const half = Math.sqrt(Math.max(0, radius ** 2 - (row - centreY) ** 2));
      const x = Math.round(centreX - half);
      this.fill({ x, y: row, width: Math.round(centreX + half) - x, height: 1 }, colour);
    }
  }

  /** A triangle that stands on its base. */
  triangle(centreX: number, top: number, size: number, colour: Colour): void {
    for (let row = 0; row < size; row++) {
      this.fill({ x: Math.round(centreX - row / 2), y: Math.round(top) + row, width: row + 1, height: 1 }, colour);
    }
  }

  /** Lines of text, `scale` pixels to a dot of the font. */
  text(lines: readonly string[], x: number, y: number, scale: number, colour: Colour): void {
    for (const [index, line] of lines.entries()) {
      let left = x;
      for (const character of line) {
        this.#glyph(character, left, y + index * LINE_STEP * scale, scale, colour);
        left += CHARACTER_STEP * scale;
      }
    }
  }

  /** Takes a part of another canvas of the same size. */
  copy(source: Canvas, rectangle: Rectangle): void {
    const { x, y, width, height } = this.clip(rectangle);
    for (let row = y; row < y + height; row++) {
      const from = row * this.width + x;
      this.#pixels.set(source.#pixels.subarray(from, from + width), from);
    }
  }

  /** The part of a rectangle that lies on the canvas. */
  clip(rectangle: Rectangle): Rectangle {
    const x = Math.min(this.width, Math.max(0, rectangle.x));
    const y = Math.min(this.height, Math.max(0, rectangle.y));
    return {
      x,
      y,
      width: Math.max(0, Math.min(this.width, rectangle.x + rectangle.width) - x),
      height: Math.max(0, Math.min(this.height, rectangle.y + rectangle.height) - y),
    };
  }

  #glyph(character: string, x: number, y: number, scale: number, colour: Colour): void {
    for (const [row, dots] of glyphRows(character).entries()) {
      for (let column = 0; column < GLYPH_WIDTH; column++) {
        const dot = { x: x + column * scale, y: y + row * scale, width: scale, height: scale };
        if (dots & (1 << (GLYPH_WIDTH - 1 - column))) this.fill(dot, colour);
      }
    }
  }
}

/** As the four bytes lie in memory: every machine that runs Bun is little-endian. */
function pixelOf([red, green, blue, alpha]: Colour): number {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
