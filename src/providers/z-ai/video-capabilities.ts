import type { VideoCapabilities } from "../../media/video-call.ts";

const COGVIDEOX: VideoCapabilities = {
  perJob: 1,
  takes: ["fps"],
  ratios: ["16:9", "9:16", "1:1"],
  // It can do 4K as well, but in landscape only, which a list of levels cannot express.
  resolutions: ["1080p", "720p"],
  seconds: [5, 10],
  defaultSeconds: 5,
  audio: "chosen",
  defaultAudio: false,
  image: true,
  lastFrame: true,
  fps: [30, 60],
  maxPrompt: 512,
};

const VIDU_Q1_TEXT: VideoCapabilities = {
  perJob: 1,
  takes: [],
  ratios: ["16:9", "9:16", "1:1"],
  resolutions: ["1080p"],
  seconds: [5],
  defaultSeconds: 5,
  audio: "never",
  image: false,
  lastFrame: false,
};

/** It animates an image and keeps its shape. */
const VIDU_Q1_IMAGE: VideoCapabilities = { ...VIDU_Q1_TEXT, ratios: [], image: true, imageOnly: true };

const VIDU_2_IMAGE: VideoCapabilities = {
  ...VIDU_Q1_IMAGE,
  resolutions: ["720p"],
  seconds: [4],
  defaultSeconds: 4,
  audio: "chosen",
  defaultAudio: false,
};

const VIDU: Readonly<Record<string, VideoCapabilities>> = {
  "viduq1-text": VIDU_Q1_TEXT,
  "viduq1-image": VIDU_Q1_IMAGE,
  "viduq1-start-end": { ...VIDU_Q1_IMAGE, lastFrame: true },
  "vidu2-image": VIDU_2_IMAGE,
  "vidu2-start-end": { ...VIDU_2_IMAGE, lastFrame: true },
};

export const isVidu = (model: string) => Object.hasOwn(VIDU, model);

export function videoCapabilities(model: string): VideoCapabilities {
  return VIDU[model] ?? COGVIDEOX;
}
