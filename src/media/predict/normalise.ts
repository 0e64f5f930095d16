import { isObject, type JsonObject } from "../../base/json.ts";

const IMAGE = ["bytesBase64Encoded", "mimeType", "gcsUri"];
const CONFIGS = ["maskImageConfig", "controlImageConfig", "styleImageConfig", "subjectImageConfig"];
const REFERENCE = ["referenceImage", "referenceId", "referenceType", ...CONFIGS];
const LOWER = ["personGeneration", "safetySetting", "quality", "resolution", "imageSize"];

type Edit = (value: unknown) => unknown;

const lower: Edit = (value) => (typeof value === "string" ? value.toLowerCase() : value);
const upper: Edit = (value) => (typeof value === "string" ? value.toUpperCase() : value);
const image: Edit = (value) => normal(value, IMAGE, { mimeType: lower });
const config: Edit = (value) => normal(value, ["maskMode", "maskClasses"], { maskMode: upper });
const list =
  (edit: Edit): Edit =>
  (value) =>
    Array.isArray(value) ? value.map(edit) : value;

const reference: Edit = (value) =>
  normal(value, REFERENCE, { referenceImage: image, referenceType: upper, maskImageConfig: config });

const instance: Edit = (value) =>
  normal(value, ["prompt", "image", "lastFrame", "referenceImages"], {
    image,
    lastFrame: image,
    referenceImages: list(reference),
  });

const SETTINGS = [
  "sampleCount",
  "negativePrompt",
  "aspectRatio",
  "outputOptions",
  "seed",
  "enhancePrompt",
  "personGeneration",
  "safetySetting",
  "includeRaiReason",
  "addWatermark",
  "guidanceScale",
  "imageSize",
  "quality",
  "sampleImageSize",
  "editMode",
  "editConfig",
  "resolution",
  "durationSeconds",
  "generateAudio",
  "fps",
  "compressionQuality",
  "resizeMode",
];

const SETTING_EDITS: Readonly<Record<string, Edit>> = {
  ...Object.fromEntries(LOWER.map((name) => [name, lower])),
  sampleImageSize: upper,
  editMode: upper,
  outputOptions: (value) => normal(value, ["mimeType", "compressionQuality"], { mimeType: outputType }),
};

/**
 * Gives one spelling to what clients of this protocol spell in several ways (sdks 5): snake_case and camelCase, words in
 * either case, null for what is not given. Only names of the contract are changed: all others are a provider's own.
 */
export function normalisePrediction(body: unknown): unknown {
  return normal(body, ["instances", "parameters", "imageSize", "quality", "sampleImageSize"], {
    ...SETTING_EDITS,
    instances: list(instance),
    parameters: (value) => normal(value, SETTINGS, SETTING_EDITS),
  });
}

function outputType(value: unknown): unknown {
  const type = lower(value);
  return type === "image/jpg" ? "image/jpeg" : type;
}

function normal(value: unknown, names: readonly string[], edits: Readonly<Record<string, Edit>>): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => entry(value, key, item, names, edits)));
}

function entry(
  object: JsonObject,
  key: string,
  item: unknown,
  names: readonly string[],
  edits: Readonly<Record<string, Edit>>,
): [string, unknown][] {
  if (item === null) return [];
  const camel = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const name = names.includes(camel) && (object[camel] ?? undefined) === undefined ? camel : key;
  const edit = Object.hasOwn(edits, name) ? edits[name] : undefined;
  return [[name, edit === undefined ? item : edit(item)]];
}
