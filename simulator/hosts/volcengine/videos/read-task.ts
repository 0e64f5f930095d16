import { isObject, type Json, type JsonObject, textOr } from "../../../json.ts";
import {
  anything,
  type FieldRule,
  type FieldRules,
  flag,
  listOf,
  oneOf,
  recordOf,
  text,
  wholeIn,
} from "../../../media/field-rules.ts";
import { type Frames, framesOf, type GivenImage, givenImage } from "../../../media/given-image.ts";
import { parseSize, sizeOfShortSide } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { checkBody, invalidParameter, modelNotFound } from "../errors.ts";

export interface SeedanceRequest {
  model: string;
  prompt: string;
  size: ImageSize;
  ratio: string;
  resolution: string;
  seconds: number;
  seed: number;
  audio: boolean;
  frames: Frames;
  returnsLastFrame: boolean;
  serviceTier: string;
  expiresAfterMs: number;
  /** Set when it is called off. */
  withdrawn?: "cancelled" | "deleted";
}

export const FRAMES_PER_SECOND = 24;
const DEFAULT_SECONDS = 5;
const DEFAULT_EXPIRY_SECONDS = 172_800;
const SHORT_SIDES: Readonly<Record<string, number>> = { "480p": 480, "720p": 720, "1080p": 1080, "4k": 2160 };
const RATIOS = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"] as const;

interface SeedanceModel {
  name: RegExp;
  duration: FieldRule;
  resolutions: readonly string[];
  audio: boolean;
}

const secondsOrOwn =
  (min: number, max: number): FieldRule =>
  (value, path) =>
    value === -1 ? undefined : wholeIn(min, max)(value, path);
const BASE_RESOLUTIONS = ["480p", "720p", "1080p"] as const;

const MODELS: readonly SeedanceModel[] = [
  {
    name: /^(doubao-)?seedance-1-0-(pro|pro-fast|lite-t2v|lite-i2v)(-\d{6})?$/,
    duration: wholeIn(2, 12),
    resolutions: BASE_RESOLUTIONS,
    audio: false,
  },
  {
    name: /^(doubao-)?seedance-1-5-pro(-\d{6})?$/,
    duration: wholeIn(4, 12),
    resolutions: BASE_RESOLUTIONS,
    audio: true,
  },
  {
    name: /^(doubao-|dreamina-)?seedance-2-0(-fast)?(-\d{6})?$/,
    duration: secondsOrOwn(4, 15),
    resolutions: [...BASE_RESOLUTIONS, "4k"],
    audio: true,
  },
  {
    name: /^(standard|ep-[\w-]+)$/,
    duration: secondsOrOwn(1, 30),
    resolutions: [...BASE_RESOLUTIONS, "4k"],
    audio: true,
  },
];

const urlRecord = recordOf({ url: text(Number.POSITIVE_INFINITY) }, ["url"]);
const PART_RULES: Readonly<Record<string, FieldRules>> = {
  text: { type: anything, text: text() },
  image_url: { type: anything, image_url: urlRecord, role: oneOf("first_frame", "last_frame", "reference_image") },
  video_url: { type: anything, video_url: urlRecord, role: oneOf("reference_video") },
  audio_url: { type: anything, audio_url: urlRecord, role: oneOf("reference_audio") },
  draft_task: { type: anything, draft_task: recordOf({ id: text() }, ["id"]) },
};

const part: FieldRule = (value, path) => {
  const type = isObject(value) ? value["type"] : undefined;
  const rules = typeof type === "string" && Object.hasOwn(PART_RULES, type) ? PART_RULES[type] : undefined;
  if (typeof type !== "string" || rules === undefined) {
    return `${path}.type must be one of ${Object.keys(PART_RULES).join(", ")}.`;
  }
  return recordOf(rules, [type])(value, path);
};

const rulesOf = (model: SeedanceModel): FieldRules => ({
  model: text(),
  content: listOf(part, 1, 32),
  ratio: oneOf(...RATIOS),
  resolution: oneOf(...model.resolutions),
  duration: model.duration,
  frames: wholeIn(1, 1_000),
  seed: wholeIn(-1, 2 ** 32 - 1),
  camera_fixed: flag,
  watermark: flag,
  generate_audio: flag,
  return_last_frame: flag,
  service_tier: oneOf("default", "flex"),
  execution_expires_after: wholeIn(1, 259_200),
  priority: wholeIn(0, 9),
  draft: flag,
  callback_url: text(),
  safety_identifier: text(),
  tools: anything,
});

interface Given {
  prompt: string;
  first?: GivenImage;
  last?: GivenImage;
  references: number;
  audio: boolean;
}

function readPart(item: JsonObject, given: Given): void {
  if (item["type"] === "text") given.prompt += String(item["text"]);
  if (item["type"] === "audio_url") given.audio = true;
  if (item["type"] !== "image_url" || !isObject(item["image_url"])) return;
  const image = givenImage(String(item["image_url"]["url"]), ["data URL"]);
  if (image === undefined) throw invalidParameter("content.image_url", "it must be the URL or the data of an image.");
  const role = item["role"] ?? "first_frame";
  if (role === "reference_image") given.references += 1;
  else if (role === "last_frame" && given.last === undefined) given.last = image;
  else if (role === "first_frame" && given.first === undefined) given.first = image;
  else throw invalidParameter("content.role", "a video has one first and one last frame.");
}

function readContent(content: Json | undefined): Given {
  const given: Given = { prompt: "", references: 0, audio: false };
  for (const item of Array.isArray(content) ? content : []) if (isObject(item)) readPart(item, given);
  if (given.last !== undefined && given.first === undefined) {
    throw invalidParameter("content.role", "a last frame needs a first frame.");
  }
  if (given.audio && given.first !== undefined) {
    throw invalidParameter("content.role", "reference audio cannot be combined with a first frame.");
  }
  return given;
}

function secondsOf(body: JsonObject): number {
  if (typeof body["frames"] === "number") return body["frames"] / FRAMES_PER_SECOND;
  const seconds = body["duration"];
  return typeof seconds === "number" && seconds > 0 ? seconds : DEFAULT_SECONDS;
}

/** What is asked for, or the refusal of it. */
export function readTask(body: JsonObject): SeedanceRequest {
  const name = body["model"];
  if (typeof name !== "string") throw invalidParameter("model", "it must be a string.");
  const model = MODELS.find((candidate) => candidate.name.test(name));
  if (model === undefined) throw modelNotFound(name);
  checkBody(body, rulesOf(model), ["content"]);
  const given = readContent(body["content"]);
  const asked = textOr(body["ratio"], given.first === undefined ? "16:9" : "adaptive");
  const resolution = textOr(body["resolution"], "720p");
  const shape = parseSize(asked, ":") ?? given.first?.size ?? { width: 16, height: 9 };
  const seed = body["seed"];
  const expiry = body["execution_expires_after"];
  return {
    model: name,
    prompt: given.prompt,
    size: sizeOfShortSide(shape, SHORT_SIDES[resolution] ?? 720),
    ratio: asked,
    resolution,
    seconds: secondsOf(body),
    seed: typeof seed === "number" && seed >= 0 ? seed : seedOf(given.prompt),
    audio: model.audio && body["generate_audio"] !== false,
    frames: framesOf(given.first, given.last),
    returnsLastFrame: body["return_last_frame"] === true,
    serviceTier: textOr(body["service_tier"], "default"),
    expiresAfterMs: (typeof expiry === "number" ? expiry : DEFAULT_EXPIRY_SECONDS) * 1000,
  };
}
