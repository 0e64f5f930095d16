import type { PlaySettings } from "./request.ts";

/** What both models are asked, apart from the prompt and the turns before it. */
export type Knobs = Omit<PlaySettings, "model" | "protocol" | "history" | "prompt" | "attached">;

export const NO_SETTINGS: Knobs = {
  system: "",
  maxTokens: undefined,
  temperature: undefined,
  stream: true,
  count: undefined,
  size: "",
  quality: "",
  seconds: undefined,
  aspectRatio: "",
  resolution: "",
  voice: "",
  format: "",
  dimensions: undefined,
};

interface Common {
  name: keyof Knobs;
  label: string;
  /** What holds if it is empty. */
  usual: string;
}

export type Setting =
  | (Common & { type: "number"; min: number; max?: number; step?: number })
  | (Common & { type: "text"; options?: readonly string[] })
  | (Common & { type: "check" });

/** The settings of each kind of model. */
const SETTINGS: Readonly<Record<string, readonly Setting[]>> = {
  text: [
    { name: "system", label: "System prompt", usual: "none", type: "text" },
    { name: "maxTokens", label: "Max output tokens", usual: "the model's", type: "number", min: 1 },
    { name: "temperature", label: "Temperature", usual: "the model's", type: "number", min: 0, max: 2, step: 0.1 },
    { name: "stream", label: "Stream", usual: "", type: "check" },
  ],
  image: [
    { name: "count", label: "Images", usual: "1", type: "number", min: 1, max: 10 },
    {
      ...{ name: "size", label: "Size", usual: "the model's", type: "text" },
      options: ["1024x1024", "1536x1024", "1024x1536"],
    },
    { name: "quality", label: "Quality", usual: "the model's", type: "text", options: ["low", "medium", "high"] },
  ],
  video: [
    { name: "seconds", label: "Seconds", usual: "4", type: "number", min: 1, max: 60 },
    {
      name: "aspectRatio",
      label: "Aspect ratio",
      usual: "the model's",
      type: "text",
      options: ["16:9", "9:16", "1:1"],
    },
    { name: "resolution", label: "Resolution", usual: "the model's", type: "text", options: ["720p", "1080p", "4K"] },
  ],
  speech: [
    {
      ...{ name: "voice", label: "Voice", usual: "alloy", type: "text" },
      options: ["alloy", "ash", "coral", "echo", "nova", "onyx", "sage", "shimmer"],
    },
    { name: "format", label: "Format", usual: "the model's", type: "text", options: ["mp3", "opus", "wav", "pcm"] },
  ],
  embedding: [{ name: "dimensions", label: "Dimensions", usual: "the model's", type: "number", min: 1 }],
};

/** The settings that models of these kinds have, each once. */
export function settingsFor(kinds: readonly string[]): readonly Setting[] {
  const all = kinds.flatMap((kind) => SETTINGS[kind] ?? []);
  return all.filter((one, at) => all.findIndex(({ name }) => name === one.name) === at);
}

/** What the prompt is, for models of these kinds. */
export const promptLabel = (kinds: readonly string[]): string =>
  kinds.every((kind) => kind === "rerank") && kinds.length > 0
    ? "Query, then a document on each line"
    : kinds.includes("speech") && kinds.length === 1
      ? "Text to speak"
      : "Prompt";
