import type { Exchange } from "../../exchange.ts";
import type { Json } from "../../json.ts";
import { Fields } from "../../media/fields.ts";
import { framesOf, type GivenImage, givenImage, isPublicUrl } from "../../media/given-image.ts";
import { parseDrawable } from "../../media/image-size.ts";
import { seedOf } from "../../media/seed-of.ts";
import type { VideoOptions } from "../../media-maker/video-options.ts";
import { names } from "../../names.ts";
import { RUNWAY_REFUSALS } from "./refusals.ts";

export type Endpoint = "image_to_video" | "text_to_video" | "video_to_video" | "text_to_image";

const SHARED = "model promptText ratio seed contentModeration";
const FIELDS: Readonly<Record<Endpoint, ReadonlySet<string>>> = {
  image_to_video: names(`${SHARED} promptImage duration audio`),
  text_to_video: names(`${SHARED} duration audio`),
  video_to_video: names(`${SHARED} videoUri references`),
  text_to_image: names(`${SHARED} referenceImages`),
};
const MODELS: Readonly<Record<Endpoint, RegExp>> = {
  image_to_video: /^(?:standard|gen4_turbo|gen4\.5|gen3a_turbo|veo3(?:\.1(?:_fast)?)?)$/,
  text_to_video: /^(?:standard|gen4\.5|veo3(?:\.1(?:_fast)?)?)$/,
  video_to_video: /^(?:standard|gen4_aleph)$/,
  text_to_image: /^(?:standard|gen4_image(?:_turbo)?|gemini_2\.5_flash)$/,
};
const MAX_SEED = 2 ** 32 - 1;
const MAX_REFERENCES = 3;
const FPS = 24;
/** The host's video is as long as the one that it is made from. The simulator does not read that one. */
const SECONDS_OF_REMADE = 5;

export interface TaskRequest {
  model: string;
  isVideo: boolean;
  /** An image has the size, seed and prompt of it. */
  video: VideoOptions;
  inputs: number;
}

function image(value: Json | undefined, path: string): GivenImage {
  const found = typeof value === "string" ? givenImage(value, ["data URL"]) : undefined;
  if (found === undefined) {
    throw RUNWAY_REFUSALS.invalid(path, "a URL or a data URI of an image", value ?? null);
  }
  return found;
}

/** `promptImage` is the first frame, or a list that says which frame each is. */
function readFrames(body: Fields): { first?: GivenImage; last?: GivenImage } {
  const value = body.value("promptImage");
  if (value === undefined) throw RUNWAY_REFUSALS.missing("promptImage");
  if (!Array.isArray(value)) return { first: image(value, "promptImage") };
  const frames: { first?: GivenImage; last?: GivenImage } = {};
  for (const [at, item] of value.entries()) {
    const frame = new Fields(item, `promptImage.${at}`, names("uri position"), RUNWAY_REFUSALS);
    const position = frame.choice("position", ["first", "last"]);
    if (position === undefined) throw RUNWAY_REFUSALS.missing(`promptImage.${at}.position`);
    if (frames[position] !== undefined) throw frame.refuse("position", "a position that no other image has");
    frames[position] = image(frame.value("uri"), `promptImage.${at}.uri`);
  }
  if (frames.first === undefined && frames.last === undefined) throw body.refuse("promptImage", "at least one image");
  return frames;
}

function readReferences(body: Fields): number {
  const references = body.list("referenceImages", MAX_REFERENCES);
  for (const [at, item] of references.entries()) {
    const reference = new Fields(item, `referenceImages.${at}`, names("uri tag"), RUNWAY_REFUSALS);
    reference.text("tag");
    image(reference.value("uri"), `referenceImages.${at}.uri`);
  }
  return references.length;
}

function checkSource(body: Fields): void {
  const url = body.requiredText("videoUri");
  if (!isPublicUrl(url) && !/^data:video\/[\w-]+;base64,/.test(url)) {
    throw body.refuse("videoUri", "a URL or a data URI of a video");
  }
  for (const [at, item] of body.list("references").entries()) {
    const reference = new Fields(item, `references.${at}`, names("type uri"), RUNWAY_REFUSALS);
    reference.choice("type", ["image"]);
    image(reference.value("uri"), `references.${at}.uri`);
  }
}

/** Reads the body of one of the URLs that make something. */
export function readTask(exchange: Exchange, endpoint: Endpoint): TaskRequest {
  const body = new Fields(exchange.body, "", FIELDS[endpoint], RUNWAY_REFUSALS);
  const model = body.requiredText("model");
  exchange.countModel(model);
  if (!MODELS[endpoint].test(model)) throw body.refuse("model", `a model of ${endpoint}`);
  const frames = endpoint === "image_to_video" ? readFrames(body) : {};
  if (endpoint === "video_to_video") checkSource(body);
  const references = endpoint === "text_to_image" ? readReferences(body) : 0;
  const prompt = endpoint === "image_to_video" ? (body.text("promptText") ?? "") : body.requiredText("promptText");
  const size = parseDrawable(body.text("ratio") ?? "1280:720", ":");
  if (size === undefined || size.width % 2 !== 0 || size.height % 2 !== 0) {
    throw body.refuse("ratio", "a width and a height in pixels such as 1280:720");
  }
  const seconds = body.whole("duration", 2, 10) ?? (endpoint === "video_to_video" ? SECONDS_OF_REMADE : 10);
  body.object("contentModeration", names("publicFigureThreshold"))?.choice("publicFigureThreshold", ["auto", "low"]);
  return {
    model,
    isVideo: endpoint !== "text_to_image",
    video: {
      prompt,
      ...size,
      seconds,
      fps: FPS,
      seed: body.whole("seed", 0, MAX_SEED) ?? seedOf(prompt),
      audio: body.flag("audio") ?? model.startsWith("veo"),
      ...framesOf(frames.first, frames.last),
    },
    inputs: references,
  };
}
