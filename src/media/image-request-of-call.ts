import { type CallSettings, type CanonCall, pathOfExtra, type Turn } from "../canon/call.ts";
import { GatewayError } from "../canon/error.ts";
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../canon/json.ts";
import { Notes } from "../canon/notes.ts";
import type { MediaPart } from "../canon/part.ts";
import type { ImageField } from "./fit-image-call.ts";
import type { ImageCall } from "./image-call.ts";
import type { ImageLink, ImageRequest } from "./image-request.ts";
import { IMAGE_TIERS, type ImageTier, type Picture } from "./picture.ts";

/** The settings that mean something to a model that only makes pictures. */
const HONOURED: ReadonlySet<keyof CallSettings> = new Set(["seed", "candidateCount"]);

const NO_CONVERSATION = "this model makes pictures, and hears the last message alone";

/**
 * A conversation with a model that makes pictures and nothing else: its last message is the prompt, and the pictures in it,
 * or else those of the answer before it, are what is to be changed.
 */
export function imageRequestOfCall(call: CanonCall): ImageRequest {
  const notes = new Notes();
  const last = call.turns.findLast((turn) => turn.role === "user");
  const prompt = [...call.system, ...(last?.parts ?? [])].flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (last === undefined || prompt.join("").trim() === "") {
    const message = "The last message holds no text; a model that makes pictures needs one that says what to make.";
    throw new GatewayError("invalid_request", message, { path: last?.path ?? "messages" });
  }
  noteUnheard(call, last, notes);
  const given = picturesOf(last);
  const before = given.length > 0 ? [] : picturesOf(call.turns.findLast((turn) => turn.role === "assistant"));
  const { inputs, links, inputPaths } = inputsOf([...given, ...before]);
  const imageCall: ImageCall = {
    prompt: prompt.join("\n\n"),
    count: call.candidateCount ?? 1,
    ...(call.seed === undefined ? {} : { seed: call.seed }),
    ...readImageConfig(call),
    inputs,
    extras: {},
  };
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

function noteUnheard(call: CanonCall, last: Turn, notes: Notes): void {
  for (const turn of call.turns) if (turn !== last && turn.role === "user") notes.dropped(turn.path, NO_CONVERSATION);
  for (const name of Object.keys(call.paths) as (keyof typeof call.paths)[]) {
    const path = call.paths[name];
    if (path !== undefined && !HONOURED.has(name as keyof CallSettings))
      notes.dropped(path, "this model makes pictures");
  }
  if (call.tools.length > 0) notes.dropped("tools", "this model makes pictures");
  for (const extra of call.extras) {
    const path = pathOfExtra(extra);
    if (!path.includes("imageConfig") && !path.includes("responseModalities"))
      notes.dropped(path, "this model makes pictures");
  }
}

const picturesOf = (turn: Turn | undefined): MediaPart[] =>
  (turn?.parts ?? []).filter((part): part is MediaPart => part.type === "media" && part.kind === "image");

function inputsOf(parts: readonly MediaPart[]): Pick<ImageRequest, "links" | "inputPaths"> & { inputs: Picture[] } {
  const inputs: Picture[] = [];
  const links: ImageLink[] = [];
  const inputPaths: string[] = [];
  for (const { source, path = "messages" } of parts) {
    if (source.type === "data") inputs.push({ mimeType: source.mimeType, base64: source.data });
    else if (source.type === "url") links.push({ url: source.url, place: inputPaths.length });
    else continue;
    inputPaths.push(path);
  }
  return { inputs, links, inputPaths };
}

/** genai: `generationConfig.imageConfig`, in the contract's spelling and in the one that the vendor's SDK sends. */
function readImageConfig(call: CanonCall): Partial<ImageCall> {
  const config = imageConfigOf(call);
  if (config === undefined) return {};
  const options = objectAt(config, "imageOutputOptions");
  const aspectRatio = stringAt(config, "aspectRatio");
  const tier = IMAGE_TIERS.find((one) => one === stringAt(config, "imageSize")) as ImageTier | undefined;
  const outputMimeType = stringAt(config, "outputMimeType") ?? stringAt(options, "mimeType");
  const compression = numberAt(config, "outputCompressionQuality") ?? numberAt(options, "compressionQuality");
  return {
    ...(aspectRatio === undefined ? {} : { aspectRatio }),
    ...(tier === undefined ? {} : { tier }),
    ...(outputMimeType === undefined ? {} : { outputMimeType }),
    ...(compression === undefined ? {} : { compression }),
  };
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
  const config = (name: string) => `generationConfig.imageConfig.${name}`;
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
