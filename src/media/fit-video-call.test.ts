import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import { fitVideoCall } from "./fit-video-call.ts";
import type { VideoCall, VideoCapabilities } from "./video-call.ts";

const CAPABILITIES: VideoCapabilities = {
  perJob: 1,
  takes: ["seed"],
  ratios: ["16:9", "9:16"],
  resolutions: ["720p", "1080p"],
  seconds: [5, 8],
  defaultSeconds: 5,
  audio: "chosen",
  image: true,
  lastFrame: true,
};
const IMAGE = { mimeType: "image/png", base64: "AAAA" };
const fit = (fields: Partial<VideoCall>, capabilities: Partial<VideoCapabilities> = {}) =>
  fitVideoCall(
    { prompt: "a fox", count: 1, extras: {}, ...fields },
    { ...CAPABILITIES, ...capabilities },
    "acme/video",
  );
const noted = ({ notes }: ReturnType<typeof fit>) => notes.map(({ field, action }) => `${field} ${action}`);
const refusal = (fields: Partial<VideoCall>, capabilities: Partial<VideoCapabilities> = {}): GatewayError => {
  try {
    fit(fields, capabilities);
  } catch (error) {
    if (error instanceof GatewayError && error.rule.status === 400) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};
const refused = (fields: Partial<VideoCall>, capabilities: Partial<VideoCapabilities> = {}): string | undefined =>
  refusal(fields, capabilities).path;

describe("contract 2.1: everything that a video's price depends on is always set", () => {
  test("by the model's own defaults", () => {
    expect(fit({})).toEqual({
      size: "1280x720",
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
    expect(fit({}, { defaultAudio: true }).call.audio).toBe(true);
  });

  test("as requested, if the model supports it", () => {
    const wanted = { seconds: 8, resolution: "1080p", audio: true, aspectRatio: "9:16", seed: 0 };
    const fitted = fit(wanted);
    expect(fitted.call).toMatchObject(wanted);
    expect(fitted.notes).toEqual([]);
  });
});

describe("contract 8: durations", () => {
  const wrong: [number, VideoCapabilities["seconds"], string][] = [
    [6, [5, 8], "5 or 8"],
    [60, [4, 6, 8], "4, 6 or 8"],
    [1, { min: 2, max: 10 }, "2 to 10"],
    [60, { min: 2, max: 10 }, "2 to 10"],
  ];
  test.each(wrong)("%d s of %j are rejected", (seconds, allowed, takes) => {
    const error = refusal({ seconds }, { seconds: allowed });
    expect(error.path).toBe("seconds");
    expect(error.message).toBe(`acme/video generates videos of ${takes} seconds, not ${seconds}.`);
  });

  test("every length that the model makes is honoured", () => {
    for (const seconds of [2, 7, 10]) {
      expect(fit({ seconds }, { seconds: { min: 2, max: 10 } })).toMatchObject({ call: { seconds }, notes: [] });
    }
  });

  test("a resolution or a last frame that has fixed lengths", () => {
    const tied = { tied: [{ resolutions: ["1080p"], lastFrame: true as const, seconds: [8] }] };
    expect(fit({ resolution: "1080p" }, tied).call.seconds).toBe(8);
    expect(fit({ seconds: 5 }, tied).call.seconds).toBe(5);
    expect(refusal({ seconds: 5, resolution: "1080p" }, tied).message).toContain("8 seconds with 1080p, not 5");
    const frames = { image: IMAGE, lastFrame: IMAGE };
    expect(refusal({ seconds: 5, ...frames }, tied).message).toContain("8 seconds with a last frame, not 5");
  });
});

describe("contract 2.1, 8: an option that changes the price or the result is honoured or rejected", () => {
  const wrong: [string, Partial<VideoCall>, Partial<VideoCapabilities>, string][] = [
    ["resolution", { resolution: "4k" }, {}, "720p or 1080p, not 4k"],
    ["aspectRatio", { aspectRatio: "1:1" }, {}, "16:9 or 9:16, not 1:1"],
    ["aspectRatio", { aspectRatio: "7:5" }, { ratios: ["4:3", "16:9"] }, "4:3 or 16:9, not 7:5"],
    ["aspectRatio", { aspectRatio: "16:9" }, { ratios: [] }, "cannot be chosen. Leave it out."],
    [
      "aspectRatio",
      { aspectRatio: "9:16", image: IMAGE },
      { shapedByImage: true },
      "aspect ratio of their first frame",
    ],
    ["audio", { audio: true }, { audio: "never" }, "only silent videos. Leave it out, or set it to false."],
    ["audio", { audio: false }, { audio: "always" }, "only videos with audio. Leave it out, or set it to true."],
    ["fps", { fps: 24 }, {}, "cannot be chosen. Leave it out."],
    ["fps", { fps: 60 }, { takes: ["fps"], fps: [16, 24] }, "16 or 24 frames per second, not 60"],
    ["personGeneration", { personGeneration: "dont_allow" }, {}, "has no setting to exclude people"],
    [
      "personGeneration",
      { personGeneration: "dont_allow" },
      { takes: ["personGeneration"], people: ["allow_adult", "allow_all"] },
      "accepts allow_adult or allow_all, not dont_allow",
    ],
  ];
  test.each(wrong)("%s: %j at %j", (path, fields, capabilities, says) => {
    const error = refusal(fields, capabilities);
    expect(error.path).toBe(path);
    expect(error.message).toContain(says);
  });

  test("a supported value is honoured in any spelling", () => {
    expect(fit({ aspectRatio: "32:18" }).call.aspectRatio).toBe("16:9");
    expect(fit({ aspectRatio: "9:16" }, { shapedByImage: true }).call.aspectRatio).toBe("9:16");
    expect(fit({ audio: false }, { audio: "never" }).notes).toEqual([]);
    expect(fit({ audio: true }, { audio: "always" }).call.audio).toBe(true);
    expect(fit({ fps: 60 }, { takes: ["fps"] }).call.fps).toBe(60);
  });
});

describe("contract 1: each model supports a subset", () => {
  test("other unsupported options are dropped and noted; false requests nothing", () => {
    const fitted = fit({ negativePrompt: "n", enhancePrompt: false, personGeneration: "allow_adult", seed: 1 });
    expect(fitted.call).not.toHaveProperty("enhancePrompt");
    expect(fitted.call.seed).toBe(1);
    expect(noted(fitted)).toEqual(["negativePrompt dropped", "personGeneration dropped"]);
  });
});

describe("contract 2.1: a call that would make another video is rejected", () => {
  const wrong: [string, Partial<VideoCall>, Partial<VideoCapabilities>][] = [
    ["count", { count: 5 }, {}],
    ["image", { image: IMAGE }, { image: false }],
    ["lastFrame", { image: IMAGE, lastFrame: IMAGE }, { lastFrame: false }],
    ["lastFrame", { lastFrame: IMAGE }, {}],
    ["image", {}, { imageOnly: true }],
    ["prompt", { prompt: "🦊🦊🦊" }, { maxPrompt: 2 }],
  ];
  test.each(wrong)("%s: %j at %j", (path, fields, capabilities) => {
    expect(refused(fields, capabilities)).toBe(path);
  });
});

describe("contract 2.1: rules that not every model has", () => {
  test("a model may need a prompt in addition to an image", () => {
    expect(refused({ prompt: "", image: IMAGE }, { promptNeeded: true })).toBe("prompt");
    expect(fit({ prompt: "", image: IMAGE }).notes).toEqual([]);
  });

  test("a seed that the model does not take becomes one that it takes", () => {
    const fitted = fit({ seed: 130 }, { seeds: { min: 0, max: 99 } });
    expect(fitted.call.seed).toBe(30);
    expect(noted(fitted)).toEqual(["seed approximated"]);
  });

  test("a setting for people wider than the model's becomes its widest", () => {
    const people: Partial<VideoCapabilities> = { takes: ["personGeneration"], people: ["dont_allow", "allow_adult"] };
    const fitted = fit({ personGeneration: "allow_all" }, people);
    expect(fitted.call.personGeneration).toBe("allow_adult");
    expect(noted(fitted)).toEqual(["personGeneration approximated"]);
    expect(fit({ personGeneration: "dont_allow" }, people).notes).toEqual([]);
  });
});

describe("decision 0100: the videos API", () => {
  const source = { kind: "extend", id: "op", job: {}, credential: "digest", seconds: 4 } as const;
  const defaults = { aspectRatio: "9:16", seconds: 4 };

  test("its defaults apply to models that have them", () => {
    const upright = fit({ defaults }, { ratios: ["16:9", "9:16"], seconds: [4, 8], defaultSeconds: 8 });
    expect(upright).toMatchObject({ size: "720x1280", call: { aspectRatio: "9:16", seconds: 4 } });
    const other = fit({ defaults }, { ratios: ["16:9"], seconds: [5, 10], defaultSeconds: 5 });
    expect(other).toMatchObject({ size: "1280x720", call: { aspectRatio: "16:9", seconds: 5 }, notes: [] });
  });

  test("a size with other pixels than the model makes is noted", () => {
    const asked = { size: "1792x1024", aspectRatio: "16:9", resolution: "1080p" };
    const { notes, size } = fit(asked, { resolutions: ["720p", "1080p"] });
    expect([size, notes.map(({ field, action }) => [field, action])]).toEqual([
      "1920x1080",
      [["size", "approximated"]],
    ]);
    const sizes = { "1080p": { "16:9": "1792x1024" } };
    expect(fit(asked, { resolutions: ["1080p"], sizes })).toMatchObject({ size: "1792x1024", notes: [] });
  });

  test("a video from another needs a model that makes it, in lengths of its own", () => {
    expect(refusal({ source }).path).toBe("source");
    expect(refusal({ source }).message).toContain("cannot extend a video");
    const derives = { extend: [4, 8] };
    expect(refused({ source, seconds: 5 }, { derives })).toBe("seconds");
    expect(fit({ source, seconds: 8, resolution: "1080p" }, { derives }).call).toMatchObject({
      seconds: 8,
      resolution: "1080p",
    });
    expect(fit({ source: { ...source, kind: "remix" } }, { derives: { remix: true } }).call.seconds).toBe(4);
  });
});
