import type { Exchange } from "../../../exchange.ts";
import type { Json } from "../../../json.ts";
import { Fields } from "../../../media/fields.ts";
import type { GivenImage } from "../../../media/given-image.ts";
import { isDrawable } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import { names } from "../../../names.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { looseChoice, readEnvelope, readStorage } from "../read-envelope.ts";
import { readImage } from "../read-media.ts";
import { GOOGLE_REFUSALS, unsupported } from "../refusals.ts";
import { type GoogleHost, invalid } from "../text/errors.ts";

const INSTANCE = names("prompt referenceImages");
const PARAMETERS = names(
  `sampleCount aspectRatio negativePrompt seed guidanceScale safetySetting personGeneration includeSafetyAttributes
  includeRaiReason language outputOptions addWatermark storageUri sampleImageSize enhancePrompt editMode editConfig`,
);
const REFERENCE = names(
  "referenceType referenceId referenceImage maskImageConfig controlImageConfig styleImageConfig subjectImageConfig",
);
const MAX_SEED = 2 ** 32 - 1;
/** The widths and heights of 1K; those of 2K are twice as long. */
const SIZES = {
  "1:1": [1024, 1024],
  "3:4": [896, 1280],
  "4:3": [1280, 896],
  "9:16": [768, 1408],
  "16:9": [1408, 768],
} as const;
const RATIOS = Object.keys(SIZES) as (keyof typeof SIZES)[];

const prefixed = (prefix: string, list: string): string[] => list.split(" ").map((name) => `${prefix}_${name}`);
const REFERENCE_TYPES = prefixed("REFERENCE_TYPE", "RAW MASK CONTROL STYLE SUBJECT CONTENT");
const MASK_MODES = prefixed("MASK_MODE", "DEFAULT USER_PROVIDED BACKGROUND FOREGROUND SEMANTIC");
const CONTROL_TYPES = prefixed("CONTROL_TYPE", "DEFAULT CANNY SCRIBBLE FACE_MESH");
const SUBJECT_TYPES = prefixed("SUBJECT_TYPE", "DEFAULT PERSON ANIMAL PRODUCT");
const EDIT_MODES = prefixed(
  "EDIT_MODE",
  "DEFAULT INPAINT_REMOVAL INPAINT_INSERTION OUTPAINT CONTROLLED_EDITING STYLE BGSWAP PRODUCT_IMAGE",
);

export interface ImagenRequest extends ImageSize {
  prompt: string;
  count: number;
  seed: number;
  format: "png" | "jpeg";
  quality?: number;
  /** The number of input images. */
  inputs: number;
  rewritesPrompt: boolean;
  tellsSafety: boolean;
  tellsReason: boolean;
  storageUri?: string;
}

interface Reference {
  type: string;
  image: GivenImage | undefined;
}

function readReference(value: Json, path: string, host: GoogleHost): Reference {
  const reference = new Fields(value, path, REFERENCE, GOOGLE_REFUSALS);
  const type = reference.choice("referenceType", REFERENCE_TYPES);
  if (type === undefined) throw GOOGLE_REFUSALS.missing(`${path}.referenceType`);
  reference.whole("referenceId", 0, Number.MAX_SAFE_INTEGER);
  const mask = reference.object("maskImageConfig", names("maskMode maskClasses dilation"));
  const maskMode = mask?.choice("maskMode", MASK_MODES) ?? "MASK_MODE_DEFAULT";
  mask?.number("dilation", 0, 1);
  mask?.list("maskClasses");
  const control = reference.object(
    "controlImageConfig",
    names("controlType enableControlImageComputation computeControl"),
  );
  control?.choice("controlType", CONTROL_TYPES);
  control?.flag("computeControl");
  reference.object("styleImageConfig", names("styleDescription"))?.text("styleDescription");
  const subject = reference.object("subjectImageConfig", names("subjectType subjectDescription"));
  subject?.choice("subjectType", SUBJECT_TYPES);
  subject?.text("subjectDescription");
  const image = readImage(reference, "referenceImage", host);
  const findsItself = type === "REFERENCE_TYPE_MASK" && maskMode !== "MASK_MODE_USER_PROVIDED";
  if (image === undefined && !findsItself) throw GOOGLE_REFUSALS.missing(`${path}.referenceImage`);
  return { type, image };
}

function readReferences(instance: Fields, host: GoogleHost): Reference[] {
  const references = instance
    .list("referenceImages")
    .map((value, at) => readReference(value, `instances[0].referenceImages[${at}]`, host));
  const raw = references.find((one) => one.type === "REFERENCE_TYPE_RAW")?.image;
  const masks = references.filter((one) => one.type === "REFERENCE_TYPE_MASK");
  if (masks.length > 1) throw invalid("Only one reference image of type REFERENCE_TYPE_MASK is allowed.");
  const [mask] = masks;
  if (mask === undefined) return references;
  if (raw === undefined) throw invalid("A mask needs a reference image of type REFERENCE_TYPE_RAW with it.");
  const size = mask.image?.size;
  if (
    size !== undefined &&
    raw.size !== undefined &&
    (size.width !== raw.size.width || size.height !== raw.size.height)
  ) {
    throw invalid(
      `The mask is ${size.width}x${size.height} and the image ${raw.size.width}x${raw.size.height}. Both must have the same size.`,
    );
  }
  return references;
}

function readSize(parameters: Fields, model: string, references: readonly Reference[]): ImageSize {
  const ratio = parameters.choice("aspectRatio", RATIOS);
  const tier = parameters.choice("sampleImageSize", ["1K", "2K"]);
  if (tier !== undefined && model.startsWith("imagen-3")) throw unsupported("sampleImageSize", model);
  const edited = references.find((one) => one.type === "REFERENCE_TYPE_RAW")?.image?.size;
  if (edited !== undefined && ratio === undefined && isDrawable(edited)) return edited;
  const [width, height] = SIZES[ratio ?? "1:1"];
  const scale = tier === "2K" ? 2 : 1;
  return { width: width * scale, height: height * scale };
}

function checkEditing(parameters: Fields, exchange: Exchange, model: string, references: readonly Reference[]): void {
  const edits = parameters.choice("editMode", EDIT_MODES) !== undefined || parameters.has("editConfig");
  parameters.object("editConfig", names("baseSteps"))?.whole("baseSteps", 1, 100);
  if (references.length === 0 && !edits) return;
  if (references.length === 0) throw GOOGLE_REFUSALS.missing("instances[0].referenceImages");
  if (model !== "standard" && !model.includes("-capability-")) throw unsupported("referenceImages", model);
  if (exchange.url.pathname.includes("/locations/global/")) {
    throw invalid("Editing is not supported in the location `global`. Call a region.");
  }
}

/** Reads what Imagen is asked for, and refuses what it would. */
export function readImagen(exchange: Exchange, host: GoogleHost, model: string): ImagenRequest {
  const { instance, parameters } = readEnvelope(exchange, host, { instance: INSTANCE, parameters: PARAMETERS });
  const prompt = instance.requiredText("prompt");
  const references = readReferences(instance, host);
  checkEditing(parameters, exchange, model, references);
  const seed = parameters.whole("seed", 0, MAX_SEED);
  const watermark = parameters.flag("addWatermark") ?? true;
  if (seed !== undefined && watermark && host === "vertex") {
    throw invalid("Seed is not supported when watermark is enabled. Set addWatermark to false.");
  }
  parameters.number("guidanceScale", 0, Number.MAX_SAFE_INTEGER);
  for (const name of ["negativePrompt", "language"]) parameters.text(name);
  looseChoice(parameters, "safetySetting", [
    "block_low_and_above",
    "block_medium_and_above",
    "block_only_high",
    "block_none",
  ]);
  looseChoice(parameters, "personGeneration", ["dont_allow", "allow_adult", "allow_all"]);
  const output = parameters.object("outputOptions", names("mimeType compressionQuality"));
  const quality = output?.whole("compressionQuality", 0, 100);
  const storageUri = readStorage(parameters);
  return {
    prompt,
    count: parameters.whole("sampleCount", 1, 4) ?? 1,
    ...readSize(parameters, model, references),
    seed: seed ?? seedOf(prompt),
    format: output?.choice("mimeType", ["image/png", "image/jpeg"]) === "image/jpeg" ? "jpeg" : "png",
    ...(quality === undefined ? {} : { quality: Math.max(1, quality) }),
    inputs: references.filter((one) => one.image !== undefined).length,
    rewritesPrompt: (parameters.flag("enhancePrompt") ?? references.length === 0) && host === "vertex",
    tellsSafety: parameters.flag("includeSafetyAttributes") ?? false,
    tellsReason: parameters.flag("includeRaiReason") ?? false,
    ...(storageUri === undefined ? {} : { storageUri }),
  };
}
