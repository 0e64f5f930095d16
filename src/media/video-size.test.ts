import { describe, expect, test } from "bun:test";
import { readVideoSize, videoSizeOf } from "./video-size.ts";

describe("decision 0100: a size is an aspect ratio and a resolution", () => {
  test.each([
    ["1280x720", "16:9", "720p"],
    ["720x1280", "9:16", "720p"],
    ["1920x1080", "16:9", "1080p"],
    ["1792x1024", "16:9", "1080p"],
    ["1024x1792", "9:16", "1080p"],
    ["3840x2160", "16:9", "4k"],
    ["832x480", "16:9", "480p"],
    ["960x960", "1:1", "960p"],
    ["1000x100", "1000:100", "100p"],
  ])("%s is %s at %s", (size, aspectRatio, resolution) => {
    expect(readVideoSize(size)).toEqual({ aspectRatio, resolution });
  });

  test.each(["1280x720", "720x1280", "1920x1080", "3840x2160", "720x720", "960x720"])("%s comes back", (size) => {
    const { resolution, aspectRatio } = readVideoSize(size);
    expect(videoSizeOf(resolution, aspectRatio)).toBe(size);
  });

  test("an unknown resolution or shape has no size", () => {
    expect(videoSizeOf("high", "16:9")).toBeUndefined();
    expect(videoSizeOf("720p", "adaptive")).toBeUndefined();
  });
});
