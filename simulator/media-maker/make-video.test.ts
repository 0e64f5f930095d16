import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Canvas } from "./canvas.ts";
import { drawImage } from "./draw-image.ts";
import { makeVideo } from "./make-video.ts";
import { decodePng, encodePng } from "./png.ts";
import { readMp4 } from "./read-mp4.sample.ts";
import type { VideoOptions } from "./video-options.ts";

const canDecode = Bun.which("ffmpeg") !== null || process.env["CI"] === "true";
if (!canDecode) console.log("skipped: frames and sound are decoded by ffmpeg, which is not installed");

const options: VideoOptions = {
  prompt: "A harbour",
  width: 320,
  height: 180,
  seconds: 2,
  fps: 12,
  seed: 3,
  audio: false,
};

async function withFile<T>(video: Uint8Array, work: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "video-"));
  try {
    const path = join(folder, "video.mp4");
    await Bun.write(path, video);
    return await work(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function output(command: string[]): Promise<Uint8Array> {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [bytes, words] = await Promise.all([child.stdout.bytes(), child.stderr.text()]);
  if ((await child.exited) !== 0 || words !== "") throw new Error(`${command[0]}: ${words}`);
  return bytes;
}

/** One frame of a video, decoded by another program. */
async function frameOf(video: Uint8Array, index: number): Promise<Canvas> {
  const png = await withFile(video, (path) => {
    const select = ["-vf", `select=eq(n\\,${index})`, "-frames:v", "1", "-pix_fmt", "rgb24"];
    return output(["ffmpeg", "-v", "error", "-i", path, ...select, "-f", "image2pipe", "-c:v", "png", "-"]);
  });
  return decodePng(await new Bun.Image(png).png().bytes());
}

/** The mean distance of two images' channels, from 0 to 255. */
function distance(one: Canvas, other: Canvas): number {
  expect([one.width, one.height]).toEqual([other.width, other.height]);
  let sum = 0;
  for (const [index, value] of one.bytes.entries()) sum += Math.abs(value - (other.bytes[index] ?? 0));
  return sum / one.bytes.length;
}

describe("contract 2.1: videos of the simulator, as an MP4 reader finds them", () => {
  const cases: Partial<VideoOptions>[] = [
    {},
    { width: 1280, height: 720, seconds: 5, fps: 24, audio: true },
    { width: 1080, height: 1920, seconds: 1, fps: 30 },
    { width: 66, height: 70, seconds: 1, fps: 5, audio: true },
    { seconds: 1, fps: 60 },
    { seconds: 1, fps: 1, audio: true },
  ];
  for (const change of cases) {
    const asked = { ...options, ...change };
    const { width, height, seconds, fps, audio } = asked;
    test(`${width}x${height}, ${seconds} s at ${fps} fps${audio ? ", with sound" : ""}`, async () => {
      const facts = readMp4(await makeVideo(asked));
      expect(facts).toMatchObject({ width, height, fps, frames: seconds * fps, seconds, indexFirst: true });
      expect(facts.codecs[0]).toStartWith("avc1.42");
      expect(facts.codecs.slice(1)).toEqual(audio ? ["mp4a.40.2"] : []);
      for (const track of facts.trackSeconds) expect(track).toBeCloseTo(seconds, 3);
    });
  }

  test("a player can start only at key frames", async () => {
    expect(readMp4(await makeVideo({ ...options, seconds: 9 })).keyFrames).toEqual([0, 12, 24, 36, 48, 60, 72, 84, 96]);
  });
});

describe.skipIf(!canDecode)("contract 2.1: videos of the simulator, decoded by ffmpeg", () => {
  test("the sound is a steady soft tone", async () => {
    const video = await makeVideo({ ...options, audio: true });
    const sound = await withFile(video, (path) => output(["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-"]));
    const samples = new Int16Array(sound.slice().buffer);
    const loudest = (from: number) => Math.max(...samples.subarray(from, from + 4800).map(Math.abs));
    for (const from of [4800, 24_000, 72_000]) {
      expect(loudest(from)).toBeGreaterThan(2400);
      expect(loudest(from)).toBeLessThan(2600);
    }
  });

  test("something moves, and the seed and the prompt are seen", async () => {
    const video = await makeVideo(options);
    const start = await frameOf(video, 0);
    expect(distance(start, await frameOf(video, 6))).toBeGreaterThan(1);
    expect(distance(start, await frameOf(await makeVideo({ ...options, seed: 4 }), 0))).toBeGreaterThan(5);
    expect(distance(start, await frameOf(await makeVideo({ ...options, prompt: "Two ships" }), 0))).toBeGreaterThan(
      0.5,
    );
  });

  test("starts and ends with the given images, scaled, and blends them in between", async () => {
    const image = (seed: number, format: "png" | "jpeg" | "webp") =>
      drawImage({ prompt: `image ${seed}`, width: 640, height: 480, seed, format });
    const [firstFrame, lastFrame] = [await image(1, "jpeg"), await image(2, "webp")];
    const video = await makeVideo({ ...options, firstFrame, lastFrame });
    const { width, height } = options;
    const scaled = async (bytes: Uint8Array) =>
      decodePng(await new Bun.Image(bytes).resize(width, height).png().bytes());
    const [first, last] = [await scaled(firstFrame), await scaled(lastFrame)];
    expect(distance(await frameOf(video, 0), first)).toBeLessThan(4);
    expect(distance(await frameOf(video, 23), last)).toBeLessThan(4);
    const middle = await frameOf(video, 12);
    expect(distance(middle, first)).toBeGreaterThan(8);
    expect(distance(middle, last)).toBeGreaterThan(8);
  });
});

describe("videos are made off the event loop", () => {
  test("the same options give the same bytes, in another process too", async () => {
    const code = `const { makeVideo } = await import(${JSON.stringify(new URL("./make-video.ts", import.meta.url).href)});
      process.stdout.write(await makeVideo(${JSON.stringify(options)}));`;
    const elsewhere = await output([process.execPath, "-e", code]);
    expect(Buffer.from(await makeVideo(options)).equals(elsewhere)).toBe(true);
  });

  test("timers run while a video is encoded", async () => {
    let isMade = false;
    const making = makeVideo({ ...options, width: 1280, height: 720, seed: 99 }).then(() => {
      isMade = true;
    });
    let turns = 0;
    for (; !isMade; turns++) await Bun.sleep(0);
    await making;
    // In the event loop's own thread there would be one or two.
    expect(turns).toBeGreaterThan(5);
  });

  test("a video is cached, and its bytes cannot be changed through a result", async () => {
    const [one, other] = await Promise.all([makeVideo({ ...options, seed: 5 }), makeVideo({ ...options, seed: 5 })]);
    const copy = other.slice();
    one.fill(0);
    expect(Buffer.from(await makeVideo({ ...options, seed: 5 })).equals(copy)).toBe(true);
  });

  test("an invalid request is an error, and the next video is made", async () => {
    await expect(makeVideo({ ...options, width: 321 })).rejects.toThrow("width must be even in a video, not 321");
    await expect(makeVideo({ ...options, seconds: 0 })).rejects.toThrow("from 1 to 1800 frames, not 0");
    await expect(makeVideo({ ...options, fps: 0 })).rejects.toThrow("fps must be from 1 to 60, not 0");
    await expect(makeVideo({ ...options, seconds: Number.NaN })).rejects.toThrow("frames, not NaN");
    const broken = makeVideo({ ...options, firstFrame: Uint8Array.from([1, 2, 3]) });
    const next = makeVideo({ ...options, seed: 6 });
    await expect(broken).rejects.toThrow("no video could be made");
    expect((await next).length).toBeGreaterThan(1000);
  });

  test("no more than 32 videos wait", async () => {
    const tiny = { ...options, width: 64, height: 64, seconds: 1, fps: 1 };
    const asked = await Promise.allSettled(Array.from({ length: 34 }, (_, seed) => makeVideo({ ...tiny, seed })));
    expect(asked.filter(({ status }) => status === "rejected").length).toBe(2);
  });
});

describe("PNG", () => {
  test("what is written is read back pixel by pixel, also after another encoder", async () => {
    const canvas = new Canvas(37, 23);
    for (const index of canvas.bytes.keys()) canvas.bytes[index] = (index * index * 7 + (index >> 3)) & 255;
    const own = await encodePng(canvas, true);
    expect(Buffer.from(decodePng(own).bytes).equals(canvas.bytes)).toBe(true);
    const foreign = await new Bun.Image(own).png({ compressionLevel: 9 }).bytes();
    expect(Buffer.from(decodePng(foreign).bytes).equals(canvas.bytes)).toBe(true);
  });
});
