import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import { fitVideoCall } from "./fit-video-call.ts";
import type { VideoAbilities, VideoCall } from "./video-call.ts";

const ABILITIES: VideoAbilities = {
  perJob: 1,
  takes: ["seed"],
  ratios: ["16:9", "9:16"],
  resolutions: ["720p", "1080p"],
  seconds: [5, 8],
  usualSeconds: 5,
  audio: "chosen",
  image: true,
  lastFrame: true,
};
const PICTURE = { mimeType: "image/png", base64: "AAAA" };
const fit = (fields: Partial<VideoCall>, abilities: Partial<VideoAbilities> = {}) =>
  fitVideoCall({ prompt: "a fox", count: 1, extras: {}, ...fields }, { ...ABILITIES, ...abilities }, "acme/film");
const noted = ({ notes }: ReturnType<typeof fit>) => notes.map(({ field, action }) => `${field} ${action}`);
const refused = (fields: Partial<VideoCall>, abilities: Partial<VideoAbilities> = {}): string | undefined => {
  try {
    fit(fields, abilities);
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "invalid_request") return error.path;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("contract 2.1: what a video's price depends on is always settled", () => {
  test("by the model's own habits", () => {
    expect(fit({})).toEqual({
      call: {
        prompt: "a fox",
        count: 1,
        extras: {},
        seconds: 5,
        resolution: "720p",
        audio: false,
        aspectRatio: "16:9",
      },
      notes: [],
    });
    expect(fit({}, { usualAudio: true }).call.audio).toBe(true);
  });

  test("as asked, where the model can", () => {
    const wanted = { seconds: 8, resolution: "1080p", audio: true, aspectRatio: "9:16", seed: 0 };
    const fitted = fit(wanted);
    expect(fitted.call).toMatchObject(wanted);
    expect(fitted.notes).toEqual([]);
  });
});

describe("contract §8: durations", () => {
  const nearest: [number, VideoAbilities["seconds"], number][] = [
    [5, [5, 8], 5],
    [6, [5, 8], 5],
    [7, [5, 8], 8],
    [6, [4, 8], 8],
    [60, [5, 8], 8],
    [1, { min: 2, max: 10 }, 2],
    [60, { min: 2, max: 10 }, 10],
    [7, { min: 2, max: 10 }, 7],
  ];
  test.each(nearest)("%d s of %j become %d", (seconds, allowed, expected) => {
    const fitted = fit({ seconds }, { seconds: allowed });
    expect(fitted.call.seconds).toBe(expected);
    expect(noted(fitted)).toEqual(expected === seconds ? [] : ["seconds approximated"]);
  });
});

describe("contract 1: each model supports a subset", () => {
  test("resolutions and shapes become the nearest", () => {
    expect(noted(fit({ resolution: "4k" }))).toEqual(["resolution approximated"]);
    expect(fit({ resolution: "4k" }).call.resolution).toBe("1080p");
    expect(fit({ resolution: "480p" }).call.resolution).toBe("720p");
    expect(fit({ resolution: "1080p" }, { resolutions: ["720p", "4k"] }).call.resolution).toBe("720p");
    const square = fit({ aspectRatio: "21:9" });
    expect(square.call.aspectRatio).toBe("16:9");
    expect(noted(square)).toEqual(["aspectRatio approximated"]);
  });

  test("a shape that cannot be chosen is dropped", () => {
    const fitted = fit({ aspectRatio: "1:1" }, { ratios: [] });
    expect(fitted.call).not.toHaveProperty("aspectRatio");
    expect(noted(fitted)).toEqual(["aspectRatio dropped"]);
  });

  test("sound is told where it is other than asked for", () => {
    expect(noted(fit({ audio: true }, { audio: "never" }))).toEqual(["audio dropped"]);
    expect(noted(fit({ audio: false }, { audio: "always" }))).toEqual(["audio dropped"]);
    expect(noted(fit({ audio: false }, { audio: "never" }))).toEqual([]);
    expect(fit({ audio: false }, { audio: "always" }).call.audio).toBe(true);
  });

  test("settings that the model has not are dropped; false is no wish", () => {
    const fitted = fit({
      negativePrompt: "n",
      enhancePrompt: false,
      personGeneration: "allow_adult",
      seed: 1,
      fps: 24,
    });
    expect(fitted.call).not.toHaveProperty("enhancePrompt");
    expect(fitted.call).not.toHaveProperty("fps");
    expect(fitted.call.seed).toBe(1);
    expect(noted(fitted)).toEqual(["negativePrompt dropped", "personGeneration dropped", "fps dropped"]);
  });

  test("frame rates become the nearest that there is", () => {
    const fitted = fit({ fps: 60 }, { takes: ["fps"], fps: [16, 24, 30] });
    expect(fitted.call.fps).toBe(30);
    expect(noted(fitted)).toEqual(["fps approximated"]);
    expect(fit({ fps: 60 }, { takes: ["fps"] }).call.fps).toBe(60);
  });
});

describe("contract 2.1: what would make another film is refused", () => {
  const wrong: [string, Partial<VideoCall>, Partial<VideoAbilities>][] = [
    ["count", { count: 5 }, {}],
    ["image", { image: PICTURE }, { image: false }],
    ["lastFrame", { image: PICTURE, lastFrame: PICTURE }, { lastFrame: false }],
    ["lastFrame", { lastFrame: PICTURE }, {}],
    ["image", {}, { imageOnly: true }],
    ["prompt", { prompt: "🦊🦊🦊" }, { maxPrompt: 2 }],
  ];
  test.each(wrong)("%s: %j at %j", (path, fields, abilities) => {
    expect(refused(fields, abilities)).toBe(path);
  });
});

describe("contract 2.1: rules that not every model has", () => {
  test("a film that begins with a picture may have the picture's shape", () => {
    const fitted = fit({ image: PICTURE, aspectRatio: "9:16" }, { shapedByImage: true });
    expect(fitted.call.aspectRatio).toBeUndefined();
    expect(noted(fitted)).toEqual(["aspectRatio dropped"]);
    expect(fit({ aspectRatio: "9:16" }, { shapedByImage: true }).call.aspectRatio).toBe("9:16");
  });

  test("a prompt may be needed beside a picture", () => {
    expect(refused({ prompt: "", image: PICTURE }, { promptNeeded: true })).toBe("prompt");
    expect(fit({ prompt: "", image: PICTURE }).notes).toEqual([]);
  });

  test("a seed that the model does not take becomes one that it takes", () => {
    const fitted = fit({ seed: 130 }, { seeds: { min: 0, max: 99 } });
    expect(fitted.call.seed).toBe(30);
    expect(noted(fitted)).toEqual(["seed approximated"]);
  });

  test("a word for people that the model has not becomes its widest", () => {
    const people: Partial<VideoAbilities> = { takes: ["personGeneration"], people: ["dont_allow", "allow_adult"] };
    const fitted = fit({ personGeneration: "allow_all" }, people);
    expect(fitted.call.personGeneration).toBe("allow_adult");
    expect(noted(fitted)).toEqual(["personGeneration approximated"]);
    expect(fit({ personGeneration: "dont_allow" }, people).notes).toEqual([]);
  });
});
