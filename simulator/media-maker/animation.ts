import { createHash } from "node:crypto";
import { Canvas, type Colour, type Rectangle } from "./canvas.ts";
import { decodePng } from "./png.ts";
import { paintCaption, paintShapes, paintSky } from "./scene.ts";
import { frameCount, type VideoOptions } from "./video-options.ts";
import { frameBytes, writeYuv } from "./yuv.ts";

const BALL: Colour = [250, 220, 60, 255];
/** Images beyond this are refused before they are unpacked. */
const MAX_PIXELS = 64_000_000;
/** The ball is back where it was after this time: what comes between a video's first second and its last is a loop. */
const LOOP_SECONDS = 1;

/** Images that were scaled before: callers often send the same one again, and scaling takes as long as all the rest. */
const scaledBefore = new Map<string, Canvas>();
const MAX_SCALED_BEFORE = 4;

/** The result is not drawn on. */
async function scaled(image: Uint8Array, { width, height }: VideoOptions): Promise<Canvas> {
  const key = `${width}x${height} ${createHash("sha256").update(image).digest("hex")}`;
  const known = scaledBefore.get(key);
  if (known) return known;
  const decoded = new Bun.Image(image, { maxPixels: MAX_PIXELS });
  const canvas = decodePng(await decoded.resize(width, height).png({ compressionLevel: 1 }).bytes());
  scaledBefore.set(key, canvas);
  for (const oldest of scaledBefore.keys()) if (scaledBefore.size > MAX_SCALED_BEFORE) scaledBefore.delete(oldest);
  return canvas;
}

function duplicate(canvas: Canvas, whole: Rectangle): Canvas {
  const copy = new Canvas(canvas.width, canvas.height);
  copy.copy(canvas, whole);
  return copy;
}

function ballAt(options: VideoOptions, seconds: number, floor: number): { x: number; y: number; radius: number } {
  const radius = Math.max(4, Math.round(Math.min(options.width, floor) / 12));
  const turn = (seconds / LOOP_SECONDS) * Math.PI;
  const across = 0.5 + 0.3 * Math.sin(2 * turn);
  const bounce = Math.abs(Math.cos(turn));
  return {
    x: Math.round(radius + across * (options.width - 2 * radius)),
    y: Math.round(floor - radius - bounce * Math.max(0, floor - 2 * radius) * 0.7),
    radius,
  };
}

/** The static background of all frames. */
interface Scene {
  options: VideoOptions;
  /** The image that the video begins with, if one is given, else sky and shapes; with the caption on it. */
  backdrop: Canvas;
  /** Where the ball lands. */
  floor: number;
  first: Canvas | undefined;
  last: Canvas | undefined;
  /** The last image with the caption on it. */
  target: Canvas | undefined;
}

export async function setScene(options: VideoOptions, note?: string): Promise<Scene> {
  const { width, height } = options;
  const whole = { x: 0, y: 0, width, height };
  const first = options.firstFrame && (await scaled(options.firstFrame, options));
  const last = options.lastFrame && (await scaled(options.lastFrame, options));
  const facts = [...(note === undefined ? [] : [note]), `${width}x${height} ${options.fps} fps seed ${options.seed}`];
  const caption = { prompt: options.prompt, facts };
  const backdrop = first ? duplicate(first, whole) : new Canvas(width, height);
  if (!first) {
    paintSky(backdrop, options.seed);
    paintShapes(backdrop, options.seed);
  }
  const floor = paintCaption(backdrop, caption).y;
  const target = last && duplicate(last, whole);
  if (target) paintCaption(target, caption);
  return { options, backdrop, floor, first, last, target };
}

/** Frames that follow one another. They are drawn once; where more are shown, they begin again. */
interface Shot {
  drawn: number;
  shown: number;
  /** Its first frame is the first image. */
  opens: boolean;
  /** Its last frame is the last image, which is uncovered from the left. */
  closes: boolean;
}

export function shotsOf({ options, first, last }: Scene): Shot[] {
  const frames = frameCount(options);
  const loop = Math.round(LOOP_SECONDS * options.fps);
  const second = Math.round(options.fps);
  const between = frames - (first ? second : 0) - (last ? second : 0);
  if (between <= loop) return [{ drawn: frames, shown: frames, opens: true, closes: true }];
  return [
    ...(first ? [{ drawn: second, shown: second, opens: true, closes: false }] : []),
    { drawn: loop, shown: between, opens: false, closes: false },
    ...(last ? [{ drawn: second, shown: second, opens: false, closes: true }] : []),
  ];
}

/** The frames of a shot, one after the other, in one buffer that is written anew where something has moved. */
export function* drawShot(scene: Scene, { drawn, opens, closes }: Shot): Generator<Uint8Array> {
  const { options, floor } = scene;
  const { width, height } = options;
  const whole = { x: 0, y: 0, width, height };
  const backdrop = duplicate(scene.backdrop, whole);
  const target = closes ? scene.target : undefined;
  const canvas = new Canvas(width, height);
  const frame = new Uint8Array(frameBytes(width, height));
  let changed: Rectangle[] = [whole];

  for (let index = 0; index < drawn; index++) {
    const exact = opens && index === 0 ? scene.first : closes && index === drawn - 1 ? scene.last : undefined;
    if (exact) {
      writeYuv(frame, exact, whole);
      yield frame;
      changed = [whole];
      continue;
    }
    if (target) {
      const x = Math.floor((width * index) / drawn);
      const strip = { x, y: 0, width: Math.floor((width * (index + 1)) / drawn) - x, height };
      backdrop.copy(target, index === 1 ? { ...strip, x: 0, width: strip.x + strip.width } : strip);
      changed.push(strip);
    }
    for (const part of changed) canvas.copy(backdrop, part);
    const ball = ballAt(options, index / options.fps, floor);
    canvas.disc(ball.x, ball.y, ball.radius, BALL);
    const side = 2 * ball.radius + 2;
    const moved = { x: ball.x - ball.radius - 1, y: ball.y - ball.radius - 1, width: side, height: side };
    for (const part of [...changed, moved]) writeYuv(frame, canvas, part);
    yield frame;
    changed = [moved];
  }
}
