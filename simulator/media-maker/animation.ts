import { Canvas, type Colour, type Rectangle } from "./canvas.ts";
import { CHARACTER_STEP, LINE_STEP } from "./glyphs.ts";
import { decodePng } from "./png.ts";
import { paintCaption, paintShapes, paintSky, textScale } from "./scene.ts";
import { frameCount, type VideoOptions } from "./video-options.ts";
import { frameBytes, writeYuv } from "./yuv.ts";

const BALL: Colour = [250, 220, 60, 255];
const CLOCK_PAPER: Colour = [20, 22, 28, 255];
const CLOCK_TEXT: Colour = [244, 244, 240, 255];
const CLOCK_CHARACTERS = 8;
/** Images beyond this are refused before they are unpacked. */
const MAX_PIXELS = 64_000_000;
/** How long the ball takes from one side to the other. */
const CROSSING_SECONDS = 3;

async function scaled(image: Uint8Array, options: VideoOptions): Promise<Canvas> {
  const decoded = new Bun.Image(image, { maxPixels: MAX_PIXELS });
  return decodePng(await decoded.resize(options.width, options.height).png({ compressionLevel: 1 }).bytes());
}

function duplicate(canvas: Canvas, whole: Rectangle): Canvas {
  const copy = new Canvas(canvas.width, canvas.height);
  copy.copy(canvas, whole);
  return copy;
}

function ballAt(options: VideoOptions, seconds: number, floor: number): { x: number; y: number; radius: number } {
  const radius = Math.max(4, Math.round(Math.min(options.width, floor) / 12));
  const way = (seconds / CROSSING_SECONDS) % 2;
  const across = way < 1 ? way : 2 - way;
  const bounce = Math.abs(Math.cos(seconds * Math.PI));
  return {
    x: Math.round(radius + across * (options.width - 2 * radius)),
    y: Math.round(floor - radius - bounce * Math.max(0, floor - 2 * radius) * 0.7),
    radius,
  };
}

/**
 * The frames of a video, one after the other, in one buffer that is written anew where something has moved. A ball
 * bounces and a clock runs in front of the first image; a last image is uncovered from the left.
 */
export async function* animate(options: VideoOptions, note?: string): AsyncGenerator<Uint8Array> {
  const { width, height } = options;
  const whole = { x: 0, y: 0, width, height };
  const first = options.firstFrame && (await scaled(options.firstFrame, options));
  const last = options.lastFrame && (await scaled(options.lastFrame, options));
  const scale = textScale(width, height);
  const clock = { x: 0, y: 0, width: (CLOCK_CHARACTERS * CHARACTER_STEP + 2) * scale, height: (LINE_STEP + 2) * scale };
  const facts = [...(note === undefined ? [] : [note]), `${width}x${height} ${options.fps} fps seed ${options.seed}`];
  const caption = { prompt: options.prompt, facts, free: 2 * clock.height };

  const backdrop = first ? duplicate(first, whole) : new Canvas(width, height);
  if (!first) {
    paintSky(backdrop, options.seed);
    paintShapes(backdrop, options.seed);
  }
  const floor = paintCaption(backdrop, caption).y;
  const target = last && duplicate(last, whole);
  if (target) paintCaption(target, caption);

  const canvas = new Canvas(width, height);
  const frame = new Uint8Array(frameBytes(width, height));
  const frames = frameCount(options);
  let changed: Rectangle[] = [whole];

  for (let index = 0; index < frames; index++) {
    const exact = index === 0 ? first : index === frames - 1 ? last : undefined;
    if (exact) {
      writeYuv(frame, exact, whole);
      yield frame;
      changed = [whole];
      continue;
    }
    if (target) {
      const x = Math.floor((width * index) / frames);
      const strip = { x, y: 0, width: Math.floor((width * (index + 1)) / frames) - x, height };
      backdrop.copy(target, index === 1 ? { ...strip, x: 0, width: strip.x + strip.width } : strip);
      changed.push(strip);
    }
    for (const part of changed) canvas.copy(backdrop, part);
    const seconds = index / options.fps;
    const ball = ballAt(options, seconds, floor);
    canvas.disc(ball.x, ball.y, ball.radius, BALL);
    canvas.fill(clock, CLOCK_PAPER);
    canvas.text([`${seconds.toFixed(2)} s`], 2 * scale, 2 * scale, scale, CLOCK_TEXT);
    const side = 2 * ball.radius + 2;
    const moved = { x: ball.x - ball.radius - 1, y: ball.y - ball.radius - 1, width: side, height: side };
    for (const part of [...changed, moved, clock]) writeYuv(frame, canvas, part);
    yield frame;
    changed = [moved];
  }
}
