import type { VideoFacts } from "./probe-video.ts";

/** A family of models, and the expected results of the calls that all of them get. */
export interface VideoModel {
  /** The client's name of it, with a provider after a colon if two offer it. */
  id: string;
  /** If the catalogue does not have it: its provider, and its name there. */
  offer?: { provider: string; model: string };
  /** The frames that it supports; `needed` if it requires the first one. */
  frames: "none" | "first" | "first and last" | "needed" | "both, needed";
  /** Of the call with every parameter. Models that need an image get the landscape one. */
  made: VideoFacts;
  /** Parameters of that call that the model lacks, and that change neither the result nor the price: they are noted. */
  notes: readonly string[];
  /** Parameters of that call that it refuses, with the supported values; undefined if there are none. */
  instead: Readonly<Record<string, unknown>>;
  /** The length of a video with a last frame, if it differs. */
  lastFrameSeconds?: number;
  usdPerSecond: number;
  /** The cost of the videos of a plain call with an image, if they are silent by default. */
  silentUsdPerSecond?: number;
  /** How the host reports an outcome in an unusual way. */
  reports?: Readonly<Record<string, number | string>>;
}

/** Every parameter of contract 2.1. */
export const EVERY_PARAMETER = {
  aspectRatio: "9:16",
  resolution: "720p",
  durationSeconds: 4,
  generateAudio: true,
  negativePrompt: "blur",
  enhancePrompt: true,
  personGeneration: "allow_adult",
  seed: 7,
  fps: 30,
};

const video = (size: string, seconds: number, sound: "sound" | "silent", fps = 24): VideoFacts => {
  const [width = 0, height = 0] = size.split("x").map(Number);
  return { width, height, seconds, fps, sound: sound === "sound" };
};
const all = (...names: string[]) => names.map((name) => `parameters.${name}`).sort();

const WORDS = ["negativePrompt", "enhancePrompt", "personGeneration"];

/** The call with every parameter as this model supports it. */
export function parametersFor({ instead }: VideoModel): Partial<typeof EVERY_PARAMETER> & ChosenByAll {
  const taken = Object.entries({ ...EVERY_PARAMETER, ...instead }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(taken) as typeof EVERY_PARAMETER;
}

/** The prompt for every model. */
type ChosenByAll = Pick<typeof EVERY_PARAMETER, "durationSeconds" | "resolution">;

/** What a configured model costs; those of the catalogue have its prices. */
export const CONFIGURED_PRICE = 0.01;

export const VIDEO_MODELS: readonly VideoModel[] = [
  {
    id: "openai/sora-2",
    frames: "first",
    made: video("720x1280", 4, "sound", 30),
    notes: all(...WORDS, "seed"),
    instead: { fps: undefined },
    usdPerSecond: 0.1,
    // The URL of the video is the API's own there.
    reports: { expired: "HTTP status 404" },
  },
  {
    id: "google/veo-3.1-generate-001:vertex",
    frames: "first and last",
    made: video("720x1280", 4, "sound"),
    notes: all(),
    instead: { fps: undefined },
    lastFrameSeconds: 8,
    usdPerSecond: 0.4,
    silentUsdPerSecond: 0.2,
    // The response contains the video itself, so no link can expire.
    reports: { expired: "made" },
  },
  {
    id: "google/veo-3.1-fast-generate-001:gemini",
    frames: "first and last",
    made: video("720x1280", 4, "sound"),
    notes: all("seed"),
    instead: { fps: undefined },
    lastFrameSeconds: 8,
    usdPerSecond: 0.1,
  },
  {
    id: "google/veo-2",
    offer: { provider: "gemini", model: "veo-2.0-generate-001" },
    frames: "first and last",
    made: video("720x1280", 5, "silent"),
    notes: all("seed"),
    instead: { durationSeconds: 5, generateAudio: false, fps: undefined },
    usdPerSecond: CONFIGURED_PRICE,
  },
  {
    id: "bytedance/doubao-seedance-1-5-pro-251215",
    frames: "first and last",
    made: video("720x1280", 4, "sound"),
    notes: all(...WORDS),
    instead: { fps: undefined },
    usdPerSecond: 0.052,
  },
  {
    id: "bytedance/seedance-1-0-pro",
    offer: { provider: "volcengine", model: "doubao-seedance-1-0-pro-250528" },
    frames: "first and last",
    made: video("720x1280", 4, "silent"),
    notes: all(...WORDS),
    instead: { generateAudio: false, fps: undefined },
    usdPerSecond: CONFIGURED_PRICE,
  },
  {
    id: "qwen/wan2.6-t2v",
    frames: "none",
    made: video("720x1280", 5, "sound"),
    notes: all("personGeneration"),
    instead: { durationSeconds: 5, fps: undefined },
    usdPerSecond: 0.1,
  },
  {
    id: "qwen/wan2.6-i2v",
    frames: "needed",
    made: video("1280x720", 5, "sound"),
    notes: all("personGeneration"),
    instead: { durationSeconds: 5, aspectRatio: undefined, fps: undefined },
    usdPerSecond: 0.1,
  },
  {
    id: "qwen/wan2.7-i2v",
    frames: "both, needed",
    made: video("1280x720", 4, "sound"),
    notes: all("personGeneration"),
    instead: { aspectRatio: undefined, fps: undefined },
    usdPerSecond: 0.1,
  },
  {
    id: "klingai/kling-v3",
    frames: "first and last",
    made: video("720x1280", 4, "sound"),
    notes: all("enhancePrompt", "personGeneration", "seed"),
    instead: { fps: undefined },
    usdPerSecond: 0.126,
    silentUsdPerSecond: 0.084,
  },
  {
    id: "klingai/kling-v2-5-turbo",
    frames: "first and last",
    made: video("720x1280", 5, "silent"),
    notes: all("enhancePrompt", "personGeneration", "seed"),
    instead: { durationSeconds: 5, generateAudio: false, fps: undefined },
    usdPerSecond: 0.07,
  },
  {
    id: "minimax/hailuo-02",
    offer: { provider: "minimax", model: "MiniMax-Hailuo-02" },
    frames: "first and last",
    made: video("1366x768", 6, "silent"),
    notes: all(...["negativePrompt", "personGeneration"], ...["seed"]),
    instead: { durationSeconds: 6, resolution: "768p", aspectRatio: undefined, generateAudio: false, fps: undefined },
    usdPerSecond: CONFIGURED_PRICE,
    // An overload is reported as a timeout.
    reports: { overloaded: 504 },
  },
  {
    id: "minimax/minimax-h3",
    frames: "first and last",
    made: video("768x1366", 4, "sound"),
    notes: all(...WORDS, "seed"),
    instead: { resolution: "768p", fps: undefined },
    usdPerSecond: 0.08,
  },
  {
    id: "z-ai/cogvideox-3",
    frames: "first and last",
    made: video("720x1280", 5, "sound", 30),
    notes: all(...WORDS, "seed"),
    instead: { durationSeconds: 5 },
    usdPerSecond: 0,
    // The host reports that a job failed, and never why.
    reports: { moderated: "could not finish the job", overloaded: 429 },
  },
  {
    id: "z-ai/viduq1-text",
    offer: { provider: "z-ai", model: "viduq1-text" },
    frames: "none",
    made: video("1088x1920", 5, "silent", 30),
    notes: all(...WORDS, "seed"),
    instead: { durationSeconds: 5, resolution: "1080p", generateAudio: false, fps: undefined },
    usdPerSecond: CONFIGURED_PRICE,
    reports: { moderated: "could not finish the job", overloaded: 429 },
  },
  {
    id: "x-ai/grok-imagine-video-1.5",
    frames: "first",
    made: video("720x1280", 4, "sound"),
    notes: all(...WORDS, "seed"),
    instead: { fps: undefined },
    usdPerSecond: 0.08,
    // The job itself says that its video is gone.
    reports: { expired: "no longer has the job" },
  },
  {
    id: "runway/gen4_turbo",
    frames: "needed",
    made: video("720x1280", 4, "silent"),
    notes: all(...WORDS),
    instead: { generateAudio: false, fps: undefined },
    usdPerSecond: 0.05,
  },
  {
    id: "runway/veo3.1",
    offer: { provider: "runway", model: "veo3.1" },
    frames: "first and last",
    made: video("720x1280", 4, "sound"),
    notes: all(...WORDS, "seed"),
    instead: { fps: undefined },
    usdPerSecond: CONFIGURED_PRICE,
  },
  {
    id: "luma/ray-2",
    offer: { provider: "luma", model: "ray-2" },
    frames: "none",
    made: video("720x1280", 5, "silent"),
    notes: all(...WORDS, "seed"),
    instead: { durationSeconds: 5, generateAudio: false, fps: undefined },
    usdPerSecond: CONFIGURED_PRICE,
  },
  {
    id: "sim/video",
    frames: "first and last",
    made: video("720x1280", 4, "sound"),
    notes: all(...WORDS),
    instead: { fps: undefined },
    usdPerSecond: 0.02,
  },
];

/** The models of the list that the configuration has to name. */
export const CONFIGURED_MODELS = VIDEO_MODELS.flatMap(({ id, offer }) =>
  offer === undefined
    ? []
    : [
        {
          id,
          output_modalities: ["video"],
          pricings: { video: [{ value: CONFIGURED_PRICE, unit: "perSecond", currency: "USD" }] },
          offers: [offer],
        },
      ],
);
