import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawImage } from "./draw-image.ts";
import { makeStillVideo } from "./make-still-video.ts";
import { makeVideo } from "./make-video.ts";
import { packVideo } from "./mp4.ts";
import { readMp4 } from "./read-mp4.sample.ts";
import { encodeStill } from "./still-video.ts";
import type { VideoOptions } from "./video-options.ts";
import { frameBytes } from "./yuv.ts";

const canDecode = Bun.which("ffmpeg") !== null || process.env["CI"] === "true";
if (!canDecode) console.log("skipped: frames and sound are decoded by ffmpeg, which is not installed");

/** Bytes of every value, and runs of zeros and ones in which a start code could seem to stand. */
function frame(width: number, height: number, seed: number): Uint8Array {
  return new Uint8Array(frameBytes(width, height)).map((_, at) => (at % 50 < 25 ? at & 1 : (at * seed) & 255));
}

async function decoded(video: Uint8Array): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "still-"));
  try {
    const path = join(folder, "still.mp4");
    await Bun.write(path, video);
    const command = ["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"];
    const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
    const [bytes, words] = await Promise.all([child.stdout.bytes(), child.stderr.text()]);
    expect([await child.exited, words]).toEqual([0, ""]);
    return Buffer.from(bytes);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("a video that needs no encoder", () => {
  test.each([
    [320, 180, 12],
    [66, 70, 40],
    [64, 64, 1],
  ])("%dx%d, %d frames, as an MP4 reader finds it", (width, height, frames) => {
    const encoded = encodeStill({ width, height }, frames, frame(width, height, 7), undefined);
    const facts = readMp4(packVideo({ encoded, width, height, fps: 4 }));
    expect(facts).toMatchObject({ width, height, frames, fps: 4, seconds: frames / 4, keyFrames: [0] });
    expect(facts.codecs).toEqual(["avc1.42c033"]);
  });

  test.skipIf(!canDecode).each([
    [320, 180],
    [66, 70],
  ])("%dx%d: ffmpeg decodes each frame to the very pixels, the last one's too", async (width, height) => {
    const [first, last] = [frame(width, height, 7), frame(width, height, 11)];
    const count = 20;
    for (const end of [undefined, last]) {
      const encoded = encodeStill({ width, height }, count, first, end);
      const pixels = await decoded(packVideo({ encoded, width, height, fps: 10 }));
      expect(pixels.length).toBe(count * first.length);
      for (let index = 0; index < count; index++) {
        const expected = index === count - 1 ? (end ?? first) : first;
        expect(pixels.subarray(index * first.length, (index + 1) * first.length).equals(expected)).toBe(true);
      }
    }
  });
});

test("a still video has the size, length, frames and sound of one that moves", async () => {
  const [firstFrame, lastFrame] = await Promise.all(
    [1, 2].map((seed) => drawImage({ prompt: "frame", width: 64, height: 64, seed, format: "png" })),
  );
  const options = { prompt: "a fox", width: 66, height: 70, seconds: 3, fps: 10, seed: 4, audio: true };
  for (const frames of [{}, { firstFrame, lastFrame }]) {
    const asked = { ...options, ...frames } as VideoOptions;
    const factsOf = ({ width, height, fps, frames: count, seconds, trackSeconds }: ReturnType<typeof readMp4>) => {
      return { width, height, fps, count, seconds, trackSeconds };
    };
    expect(factsOf(readMp4(await makeStillVideo(asked)))).toEqual(factsOf(readMp4(await makeVideo(asked))));
  }
  await expect(makeStillVideo({ ...options, width: 65 })).rejects.toThrow("width must be even");
});
