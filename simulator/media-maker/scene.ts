import { Seed } from "../seed.ts";
import type { Canvas, Colour, Rectangle } from "./canvas.ts";
import { CHARACTER_STEP, LINE_STEP } from "./glyphs.ts";
import { wrapText } from "./wrap-text.ts";

const SHAPES = 7;
const MARKS = 16;
const PANEL: Colour = [20, 22, 28, 255];
const TEXT: Colour = [244, 244, 240, 255];
const FAINT: Colour = [170, 176, 190, 255];
const LONG_ADMISSION = "Made by a simulator, not by a model";
const SHORT_ADMISSION = "simulated";

interface Caption {
  prompt: string;
  /** Lines below the prompt, whole where there is room. */
  facts: readonly string[];
  /** Rows of pixels at the top that stay free. */
  free?: number;
}

function hue(degrees: number, light: number): Colour {
  const channel = (shift: number) => {
    const wave = Math.cos(((degrees + shift) * Math.PI) / 180);
    return Math.round(255 * Math.min(1, Math.max(0, light + wave * 0.28)));
  };
  return [channel(0), channel(-120), channel(120), 255];
}

/** A sky of two colours. */
export function paintSky(canvas: Canvas, seed: number): void {
  const chance = new Seed(`sky ${seed}`);
  const top = hue(chance.number("top", 360), 0.42);
  const bottom = hue(chance.number("bottom", 360), 0.7);
  // Few bands compress well, and look the same.
  const bands = 32;
  for (let band = 0; band < bands; band++) {
    const mix = (from: number, to: number) => Math.round(from + ((to - from) * band) / (bands - 1));
    const y = Math.floor((canvas.height * band) / bands);
    const height = Math.floor((canvas.height * (band + 1)) / bands) - y;
    const colour: Colour = [mix(top[0], bottom[0]), mix(top[1], bottom[1]), mix(top[2], bottom[2]), 255];
    canvas.fill({ x: 0, y, width: canvas.width, height }, colour);
  }
}

/** Discs, triangles and blocks wherever the seed puts them. */
export function paintShapes(canvas: Canvas, seed: number): void {
  const chance = new Seed(`shapes ${seed}`);
  const unit = Math.min(canvas.width, canvas.height);
  for (let index = 0; index < SHAPES; index++) {
    const draw = chance.derive(`${index}`);
    const x = draw.number("x", canvas.width);
    const y = draw.number("y", canvas.height);
    const size = Math.round(unit / 10) + draw.number("size", Math.round(unit / 4));
    const colour = hue(draw.number("hue", 360), 0.35 + draw.number("light", 40) / 100);
    const shape = draw.pick("shape", ["disc", "triangle", "block"]);
    if (shape === "disc") canvas.disc(x, y, size / 2, colour);
    else if (shape === "triangle") canvas.triangle(x, y - size / 2, size, colour);
    else canvas.fill({ x: Math.round(x - size / 2), y: Math.round(y - size / 2), width: size, height: size }, colour);
  }
}

/** Pixels to a dot of the font: as large as the image allows with room for a prompt. */
function textScale(width: number, height: number): number {
  return Math.max(1, Math.floor(Math.min(width / (CHARACTER_STEP * 40), height / (LINE_STEP * 14))));
}

/**
 * Writes the caption on a dark panel at the bottom, and returns where the panel is. The row of coloured marks above the
 * words stands for the whole prompt: two prompts look different even where they are cut.
 */
export function paintCaption(canvas: Canvas, caption: Caption): Rectangle {
  const { width, height } = canvas;
  const scale = textScale(width, height);
  const margin = 2 * scale;
  const columns = Math.max(1, Math.floor((width - 2 * margin) / (CHARACTER_STEP * scale)));
  const markHeight = 3 * scale;
  const room = Math.max(2, Math.floor((height - (caption.free ?? 0) - margin - markHeight) / (LINE_STEP * scale)));
  const admission = columns < LONG_ADMISSION.length ? SHORT_ADMISSION : LONG_ADMISSION;
  const facts: string[] = [];
  // From the last one up, so that a small image keeps what matters most.
  for (const fact of [...caption.facts, admission].reverse()) {
    const lines = wrapText(fact, columns, 3);
    if (facts.length + lines.length < room) facts.unshift(...lines);
  }
  const max = Math.max(1, Math.min(room - facts.length, Math.ceil(room / 2)));
  const prompt = wrapText(caption.prompt, columns, max);

  const lines = prompt.length + facts.length;
  const panelHeight = Math.min(height, lines * LINE_STEP * scale + margin + markHeight);
  const panel = { x: 0, y: height - panelHeight, width, height: panelHeight };
  canvas.fill(panel, PANEL);
  const marks = new Seed(`prompt ${caption.prompt}`).bytes("marks");
  for (let mark = 0; mark < MARKS; mark++) {
    const x = Math.floor((width * mark) / MARKS);
    const end = Math.floor((width * (mark + 1)) / MARKS);
    canvas.fill({ x, y: panel.y, width: end - x, height: markHeight }, hue(((marks[mark] ?? 0) * 360) / 256, 0.6));
  }
  const top = panel.y + markHeight + margin;
  canvas.text(prompt, margin, top, scale, TEXT);
  canvas.text(facts, margin, top + prompt.length * LINE_STEP * scale, scale, FAINT);
  return panel;
}
