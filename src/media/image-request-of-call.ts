import { isObject, type JsonObject, objectAt } from "../base/json.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { type CallSettings, type CanonCall, pathOfExtra, type Turn } from "../canon/call.ts";
import { GatewayError } from "../canon/error.ts";
import { Fields } from "../canon/fields.ts";
import { Notes } from "../canon/notes.ts";
import type { MediaPart, Part } from "../canon/part.ts";
import { refuse } from "../dialects/reading/check.ts";
import type { ImageField } from "./fit-image-call.ts";
import { IMAGE_TIERS, type InlineImage } from "./image.ts";
import type { ImageCall } from "./image-call.ts";
import type { ImageLink, ImageRequest } from "./image-request.ts";

/** The settings that apply to a model that only generates images. */
const HONOURED: ReadonlySet<keyof CallSettings> = new Set(["seed", "candidateCount"]);

const MAKES_IMAGES = "this model only generates images";
const NO_CONVERSATION = "this model uses only the last message";
const NO_OTHER_MEDIA = "this model accepts only text and images";
const NO_SUCH_SETTING = "this model does not support this setting";
const IMAGE_CONFIG = "generationConfig.imageConfig";
const MODALITIES = "generationConfig.responseModalities";

/**
 * A conversation with a model that only generates images. The last message is the prompt. The images to edit are those in it, or
 * otherwise those in the response before it. The body is checked for a text-only request, which a canonical call leaves out because
 * all other models return text anyway.
 */
export function imageRequestOfCall(call: CanonCall, body: JsonObject = {}): ImageRequest {
  const notes = new Notes();
  const last = call.turns.findLast((turn) => turn.role === "user");
  const prompt = [...call.system, ...(last?.parts ?? [])].flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (last === undefined || prompt.join("").trim() === "") {
    const message = "The last message contains no text. Describe the image to generate.";
    throw new GatewayError("invalid_request", message, { path: last?.path ?? "messages" });
  }
  const given = imagesOf(last);
  const images = given.length > 0 ? given : imagesOf(call.turns.findLast((turn) => turn.role === "assistant"));
  noteUnsentParts(call, last, new Set(images), notes);
  noteUnsentSettings(call, notes);
  const modalities = objectAt(body, "generationConfig")?.["responseModalities"];
  if (Array.isArray(modalities) && !asksForImages(modalities)) notes.dropped(MODALITIES, MAKES_IMAGES);
  const { inputs, links, inputPaths } = inputsOf(images);
  const imageCall: ImageCall = withoutAbsent({
    prompt: prompt.join("\n\n"),
    count: call.candidateCount ?? 1,
    seed: call.seed,
    ...readImageConfig(imageConfigOf(call), notes),
    inputs,
    extras: {},
  });
  const paths = pathsOf(call, last.path);
  return {
    call: imageCall,
    paths,
    inputPaths,
    links,
    edit: inputs.length + links.length > 0,
    stream: false,
    partialImages: 0,
    notes: notes.list,
  };
}

/** Notes what the model does not get: whole messages, or the parts that are left out of one. */
function noteUnsentParts(call: CanonCall, last: Turn, images: ReadonlySet<Part>, notes: Notes): void {
  // Instruction parts that are not text are stored in the extras of an empty part.
  for (const { text, path, extras } of call.system) {
    if (text !== "" || path === undefined) continue;
    for (const name of Object.keys(extras ?? {})) notes.dropped(`${path}.${name}`, NO_OTHER_MEDIA);
  }
  for (const turn of call.turns) {
    const unsent = turn.parts.filter(
      (part) => !images.has(part) && !(part.type === "text" && (turn === last || part.text === "")),
    );
    const inPart = turn === last || turn.role === "system" || turn.parts.some((part) => images.has(part));
    const reason = turn === last ? NO_OTHER_MEDIA : NO_CONVERSATION;
    if (inPart) for (const part of unsent) notes.dropped(part.path ?? turn.path, reason);
    else if (unsent.length > 0) notes.dropped(turn.path, reason);
  }
}

function noteUnsentSettings(call: CanonCall, notes: Notes): void {
  for (const name of Object.keys(call.paths) as (keyof typeof call.paths)[]) {
    const path = call.paths[name];
    if (path !== undefined && !HONOURED.has(name as keyof CallSettings)) notes.dropped(path, MAKES_IMAGES);
  }
  if (call.tools.length > 0) notes.dropped("tools", MAKES_IMAGES);
  for (const extra of call.extras) {
    const path = pathOfExtra(extra);
    if (path.includes("imageConfig") || (path.includes("responseModalities") && asksForImages(extra.value))) continue;
    notes.dropped(path, MAKES_IMAGES);
  }
}

/** Text may accompany the images. */
const asksForImages = (modalities: unknown): boolean =>
  Array.isArray(modalities) && modalities.includes("IMAGE") && !modalities.includes("AUDIO");

const imagesOf = (turn: Turn | undefined): MediaPart[] =>
  (turn?.parts ?? []).filter((part): part is MediaPart => part.type === "media" && part.kind === "image");

function inputsOf(parts: readonly MediaPart[]): Pick<ImageRequest, "links" | "inputPaths"> & { inputs: InlineImage[] } {
  const inputs: InlineImage[] = [];
  const links: ImageLink[] = [];
  const inputPaths: string[] = [];
  for (const { source, path = "messages" } of parts) {
    if (source.type === "data") inputs.push({ mimeType: source.mimeType, base64: source.data });
    else if (source.type === "url") links.push({ url: source.url, position: inputPaths.length });
    else {
      refuse(
        path,
        "refers to a file in a provider's account, which the gateway cannot read; send the image itself, or a public https URL",
      );
    }
    inputPaths.push(path);
  }
  return { inputs, links, inputPaths };
}

/** genai: `generationConfig.imageConfig`, in the contract's spelling and in the one that the vendor's SDK sends. */
function readImageConfig(config: JsonObject | undefined, notes: Notes): Partial<ImageCall> {
  const fields = new Fields(config);
  const options = new Fields(fields.object("imageOutputOptions"));
  const aspectRatio = fields.string("aspectRatio");
  const tier = IMAGE_TIERS.find((one) => one === config?.["imageSize"]);
  if (tier !== undefined) fields.skip("imageSize");
  const [ownType, otherType] = [fields.string("outputMimeType"), options.string("mimeType")];
  const [ownQuality, otherQuality] = [fields.number("outputCompressionQuality"), options.number("compressionQuality")];
  const outputMimeType = ownType ?? otherType;
  const compression = ownQuality ?? otherQuality;
  for (const name of Object.keys(fields.rest() ?? {})) notes.dropped(`${IMAGE_CONFIG}.${name}`, NO_SUCH_SETTING);
  for (const name of Object.keys(options.rest() ?? {})) {
    notes.dropped(`${IMAGE_CONFIG}.imageOutputOptions.${name}`, NO_SUCH_SETTING);
  }
  return withoutAbsent({ aspectRatio, tier, outputMimeType, compression });
}

function imageConfigOf({ extras }: CanonCall): JsonObject | undefined {
  for (const { keys, value } of extras) {
    if (keys.at(-1) === "imageConfig" && isObject(value)) return value;
    const inside = isObject(value) && keys.at(-1) === "generationConfig" ? objectAt(value, "imageConfig") : undefined;
    if (inside) return inside;
  }
  return undefined;
}

function pathsOf(call: CanonCall, prompt: string): Record<ImageField, string> {
  const config = (name: string) => `${IMAGE_CONFIG}.${name}`;
  return {
    prompt,
    inputs: prompt,
    mask: prompt,
    count: call.paths.candidateCount ?? "candidateCount",
    seed: call.paths.seed ?? "seed",
    aspectRatio: config("aspectRatio"),
    tier: config("imageSize"),
    size: config("imageSize"),
    outputMimeType: config("outputMimeType"),
    compression: config("outputCompressionQuality"),
    negativePrompt: "negativePrompt",
    quality: "quality",
    guidanceScale: "guidanceScale",
    enhancePrompt: "enhancePrompt",
    watermark: "watermark",
    personGeneration: config("personGeneration"),
    safetySetting: "safetySettings",
    includeRaiReason: "includeRaiReason",
    background: "background",
    moderation: "moderation",
    inputFidelity: "inputFidelity",
    editMode: "editMode",
  };
}
