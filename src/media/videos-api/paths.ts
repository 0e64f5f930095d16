import type { VideoField } from "../fit-video-call.ts";

/** The canonical fields under the names of the videos API. */
export const VIDEO_PATHS: Readonly<Record<VideoField, string>> = {
  prompt: "prompt",
  image: "input_reference",
  lastFrame: "last_frame",
  count: "n",
  aspectRatio: "size",
  resolution: "size",
  size: "size",
  seconds: "seconds",
  audio: "generate_audio",
  negativePrompt: "negative_prompt",
  enhancePrompt: "enhance_prompt",
  personGeneration: "person_generation",
  seed: "seed",
  fps: "fps",
  source: "video",
};
