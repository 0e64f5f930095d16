import type { Exchange } from "../../../exchange.ts";
import { Fields } from "../../../media/fields.ts";
import { framesOf } from "../../../media/given-image.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { VideoOptions } from "../../../media-maker/video-options.ts";
import { names } from "../../../names.ts";
import { looseChoice, readEnvelope, readStorage } from "../read-envelope.ts";
import { readImage, readVideo } from "../read-media.ts";
import { GOOGLE_REFUSALS, unsupported } from "../refusals.ts";
import { type GoogleHost, invalid } from "../text/errors.ts";

const INSTANCE = names("prompt image lastFrame video referenceImages mask");
const PARAMETERS = names(
  `sampleCount storageUri fps durationSeconds seed aspectRatio resolution personGeneration pubsubTopic negativePrompt
  enhancePrompt generateAudio compressionQuality resizeMode webhookConfig`,
);
/** What the Gemini API does not have. Its videos always have sound. */
const ONLY_VERTEX = ["storageUri", "fps", "seed", "generateAudio", "compressionQuality", "resizeMode", "pubsubTopic"];
const MAX_REFERENCES = 3;
const SHORT_SIDES = { "720p": 720, "1080p": 1080, "4k": 2160 } as const;

export interface VeoRequest {
  video: VideoOptions;
  count: number;
  model: string;
  storageUri?: string;
  /** Of these videos, how many moderation holds back. */
  heldBack: number;
}

function readReferences(instance: Fields, host: GoogleHost): number {
  const references = instance.list("referenceImages", MAX_REFERENCES);
  for (const [at, value] of references.entries()) {
    const path = `instances[0].referenceImages[${at}]`;
    const reference = new Fields(value, path, names("image referenceType"), GOOGLE_REFUSALS);
    looseChoice(reference, "referenceType", ["asset", "style"]);
    if (readImage(reference, "image", host) === undefined) throw GOOGLE_REFUSALS.missing(`${path}.image`);
  }
  return references.length;
}

/** The second generation makes 5 to 8 seconds, later ones 4, 6 or 8, and only 8 of what is larger or has more to hold to. */
function readSeconds(parameters: Fields, model: string, needsEight: boolean): number {
  if (model.startsWith("veo-2")) return parameters.whole("durationSeconds", 5, 8) ?? 8;
  const seconds = parameters.choice("durationSeconds", [4, 6, 8]) ?? 8;
  if (needsEight && seconds !== 8) {
    throw invalid("durationSeconds must be 8 for 1080p and 4k, and with reference images or a last frame.");
  }
  return seconds;
}

/** Reads what Veo is asked for, and refuses what it would. */
export function readVeo(exchange: Exchange, host: GoogleHost, model: string): Omit<VeoRequest, "heldBack"> {
  const { instance, parameters } = readEnvelope(exchange, host, { instance: INSTANCE, parameters: PARAMETERS });
  if (host === "gemini") {
    const foreign = ONLY_VERTEX.find((name) => parameters.has(name)) ?? (instance.has("mask") ? "mask" : undefined);
    if (foreign !== undefined) throw unsupported(foreign, `${model} on the Gemini API`);
  } else if (parameters.has("webhookConfig")) throw GOOGLE_REFUSALS.unknown("webhookConfig", "parameters");
  const image = readImage(instance, "image", host);
  const lastFrame = readImage(instance, "lastFrame", host);
  readVideo(instance, "video", host);
  const prompt =
    image === undefined && !instance.has("video") ? instance.requiredText("prompt") : (instance.text("prompt") ?? "");
  const references = readReferences(instance, host);
  if (references > 0 && image !== undefined) throw invalid("image and referenceImages cannot be used together.");
  const resolution = parameters.choice("resolution", ["720p", "1080p", "4k"]) ?? "720p";
  const portrait = parameters.choice("aspectRatio", ["16:9", "9:16"]) === "9:16";
  const needsEight = resolution !== "720p" || references > 0 || lastFrame !== undefined;
  looseChoice(parameters, "personGeneration", [
    "dont_allow",
    "allow_adult",
    ...(host === "gemini" ? ["allow_all"] : []),
  ]);
  looseChoice(parameters, "compressionQuality", ["optimized", "lossless"]);
  looseChoice(parameters, "resizeMode", ["crop", "pad"]);
  for (const name of ["negativePrompt", "pubsubTopic"]) parameters.text(name);
  parameters.flag("enhancePrompt");
  const audio = parameters.flag("generateAudio") ?? true;
  const short = SHORT_SIDES[resolution];
  const long = (short * 16) / 9;
  const storageUri = readStorage(parameters);
  return {
    video: {
      prompt,
      width: portrait ? short : long,
      height: portrait ? long : short,
      seconds: readSeconds(parameters, model, needsEight),
      fps: parameters.whole("fps", 1, 60) ?? 24,
      seed: parameters.whole("seed", 0, 2 ** 32 - 1) ?? seedOf(prompt),
      audio: audio && !model.startsWith("veo-2"),
      ...framesOf(image, lastFrame),
    },
    count: parameters.whole("sampleCount", 1, 4) ?? 1,
    model,
    ...(storageUri === undefined ? {} : { storageUri }),
  };
}
