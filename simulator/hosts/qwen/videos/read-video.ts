import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { anyText, type FieldRules, flag, listOf, oneOf, recordOf, text, wholeIn } from "../../../media/field-rules.ts";
import { type Frames, framesOf, type GivenImage, givenImage } from "../../../media/given-image.ts";
import { parseDrawable, parseSize, sizeOfShortSide } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { checkObject, invalidParameter, modelNotFound } from "../errors.ts";

export interface VideoRequest {
  kind: "video";
  model: string;
  prompt: string;
  size: ImageSize;
  shortSide: number;
  ratio: string;
  seconds: number;
  seed: number;
  audio: boolean;
  extends: boolean;
  frames: Frames;
}

type Purpose = "t2v" | "i2v" | "kf2v" | "r2v";

interface VideoModel {
  /** Undefined where it is all of them, as `standard` is. */
  version: number | undefined;
  purpose: Purpose | undefined;
}

const NAME = /^wanx?(\d\.\d)-(t2v|i2v|kf2v|r2v)(-[a-z]+)*(-\d{4}-\d{2}-\d{2})?$/;
const SHORT_SIDES: Readonly<Record<string, number>> = { "480P": 480, "720P": 720, "1080P": 1080 };
const link = text(Number.POSITIVE_INFINITY);

function videoModel(name: string): VideoModel | undefined {
  if (name === "standard") return { version: undefined, purpose: undefined };
  const [, version, purpose] = NAME.exec(name) ?? [];
  return version === undefined ? undefined : { version: Number(version), purpose: purpose as Purpose };
}

/** Which of the fields that differ between generations this model has. */
function fieldsOf({ version, purpose }: VideoModel): Readonly<Record<string, boolean>> {
  const isAny = version === undefined;
  const isNew = isAny || version >= 2.7;
  const isOld = isAny || version < 2.7;
  return {
    img_url: isAny || (isOld && purpose === "i2v"),
    first_frame_url: isAny || (isOld && purpose === "kf2v"),
    last_frame_url: isAny || (isOld && purpose === "kf2v"),
    reference_urls: isAny || (version === 2.6 && purpose === "r2v"),
    media: isNew,
    size: isAny || (isOld && (purpose === "t2v" || purpose === "r2v")),
    resolution: isNew || purpose === "i2v" || purpose === "kf2v",
    ratio: isAny || version >= 3 || (version >= 2.7 && (purpose === "t2v" || purpose === "r2v")),
    shot_type: isAny || version === 2.6,
    audio: isAny || version === 2.5 || version === 2.6,
  };
}

const MEDIA_ITEM = recordOf(
  { type: oneOf("first_frame", "last_frame", "reference_image", "reference_video"), url: link },
  ["type", "url"],
);

function rulesOf(model: VideoModel): { input: FieldRules; parameters: FieldRules } {
  const has = fieldsOf(model);
  const own = (rules: FieldRules): FieldRules =>
    Object.fromEntries(Object.entries(rules).filter(([name]) => has[name] !== false));
  return {
    input: own({
      prompt: text(),
      negative_prompt: anyText,
      audio_url: link,
      template: text(),
      img_url: link,
      first_frame_url: link,
      last_frame_url: link,
      reference_urls: listOf(link, 1, 5),
      media: listOf(MEDIA_ITEM, 1, 10),
    }),
    parameters: own({
      duration: wholeIn(2, model.version === undefined || model.version >= 3 ? 30 : 15),
      prompt_extend: flag,
      watermark: flag,
      seed: wholeIn(0, 2_147_483_647),
      size: text(),
      resolution: oneOf(...Object.keys(SHORT_SIDES)),
      ratio: oneOf("16:9", "9:16", "1:1", "4:3", "3:4"),
      shot_type: oneOf("single", "multi"),
      audio: flag,
    }),
  };
}

function imageAt(given: Json | undefined, path: string): GivenImage | undefined {
  if (typeof given !== "string") return undefined;
  const image = givenImage(given, ["data URL"]);
  if (image === undefined) throw invalidParameter(`${path} is neither a URL nor the data of an image.`);
  return image;
}

function readFrames(input: JsonObject): { first: GivenImage | undefined; last: GivenImage | undefined } {
  const media = Array.isArray(input["media"]) ? input["media"].filter(isObject) : [];
  for (const item of media) if (item["type"] === "reference_image") imageAt(item["url"], "input.media");
  const url = (type: string): Json | undefined => media.find((item) => item["type"] === type)?.["url"];
  return {
    first: imageAt(input["img_url"] ?? input["first_frame_url"] ?? url("first_frame"), "The first frame"),
    last: imageAt(input["last_frame_url"] ?? url("last_frame"), "The last frame"),
  };
}

function checkPurpose({ purpose }: VideoModel, input: JsonObject, hasFirstFrame: boolean): void {
  if ((purpose === "i2v" || purpose === "kf2v") && !hasFirstFrame) {
    throw invalidParameter("input needs a first frame: this model makes videos of images.");
  }
  if (purpose === "r2v" && input["reference_urls"] === undefined && input["media"] === undefined) {
    throw invalidParameter("input needs references: this model makes videos of what they show.");
  }
  if (purpose === "t2v" && hasFirstFrame) throw invalidParameter("input.media: this model takes words only.");
  if (!hasFirstFrame && input["prompt"] === undefined) throw invalidParameter("input.prompt is required.");
}

function readSize(parameters: JsonObject, first: GivenImage | undefined): ImageSize {
  if (typeof parameters["size"] === "string") {
    const size = parseDrawable(parameters["size"], "*");
    const isFit = size !== undefined && size.width % 2 === 0 && size.height % 2 === 0;
    if (!isFit) throw invalidParameter(`parameters.size must be such as 1280*720, not ${parameters["size"]}.`);
    return size;
  }
  const shape = parseSize(String(parameters["ratio"] ?? ""), ":") ?? first?.size ?? { width: 16, height: 9 };
  return sizeOfShortSide(shape, SHORT_SIDES[String(parameters["resolution"] ?? "720P")] ?? 720);
}

/** What is asked for, or the refusal of it. */
export function readVideo(body: JsonObject): VideoRequest {
  checkObject(body, { model: text(), input: recordOfAnything, parameters: recordOfAnything }, ["model", "input"]);
  const name = String(body["model"]);
  const model = videoModel(name);
  if (model === undefined) throw modelNotFound(name);
  const input = isObject(body["input"]) ? body["input"] : {};
  const parameters = isObject(body["parameters"]) ? body["parameters"] : {};
  const rules = rulesOf(model);
  checkObject(input, rules.input, [], "input.");
  checkObject(parameters, rules.parameters, [], "parameters.");
  const { first, last } = readFrames(input);
  checkPurpose(model, input, first !== undefined);
  const prompt = typeof input["prompt"] === "string" ? input["prompt"] : "";
  const size = readSize(parameters, first);
  const { duration, seed, ratio } = parameters;
  return {
    kind: "video",
    model: name,
    prompt,
    size,
    shortSide: Math.min(size.width, size.height),
    ratio: typeof ratio === "string" ? ratio : `${size.width}:${size.height}`,
    seconds: typeof duration === "number" ? duration : 5,
    seed: typeof seed === "number" ? seed : seedOf(prompt),
    audio: (model.version === undefined || model.version >= 2.5) && parameters["audio"] !== false,
    extends: parameters["prompt_extend"] !== false,
    frames: framesOf(first, last),
  };
}

function recordOfAnything(value: Json, path: string): string | undefined {
  return isObject(value) ? undefined : `${path} must be an object.`;
}
