import type { Canvas, Rectangle } from "./canvas.ts";

/** The bytes of a frame as the encoder takes it: brightness for each pixel, then the two colours for each four pixels. */
export function frameBytes(width: number, height: number): number {
  return (width * height * 3) / 2;
}

/** Brings a part of a canvas into a frame, in the limited range of BT.709. Sides of the canvas are even. */
export function writeYuv(frame: Uint8Array, canvas: Canvas, part: Rectangle): void {
  const { width, height, bytes } = canvas;
  const { x, y, width: partWidth, height: partHeight } = canvas.clip(part);
  const colours = width * height;
  const secondColours = colours + colours / 4;
  const right = Math.min(width, x + partWidth + 1);
  const bottom = Math.min(height, y + partHeight + 1);
  for (let row = y & ~1; row + 1 < bottom; row += 2) {
    for (let column = x & ~1; column + 1 < right; column += 2) {
      let red = 0;
      let green = 0;
      let blue = 0;
      for (let corner = 0; corner < 4; corner++) {
        const pixel = (row + (corner >> 1)) * width + column + (corner & 1);
        const r = bytes[pixel * 4] ?? 0;
        const g = bytes[pixel * 4 + 1] ?? 0;
        const b = bytes[pixel * 4 + 2] ?? 0;
        frame[pixel] = 16.5 + 0.18259 * r + 0.61423 * g + 0.06201 * b;
        red += r;
        green += g;
        blue += b;
      }
      const at = ((row / 2) * width) / 2 + column / 2;
      frame[colours + at] = 128.5 - 0.02516 * red - 0.08467 * green + 0.10981 * blue;
      frame[secondColours + at] = 128.5 + 0.10981 * red - 0.09973 * green - 0.01007 * blue;
    }
  }
}
