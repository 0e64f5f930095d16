import type { VideoDerivation } from "../canon/operation.ts";
import { sameRatio } from "./aspect-ratio.ts";
import { foldSeed } from "./number-range.ts";
import { refuseExcludingPeople, settlePeople } from "./person-generation.ts";
import { listed, refuseField, refuseSetting } from "./refuse-field.ts";
import type { FittedVideoCall, VideoCall, VideoCapabilities, VideoOption, VideoSource } from "./video-call.ts";
import { videoSizeOf } from "./video-size.ts";

export type VideoField =
  | VideoOption
  | "count"
  | "aspectRatio"
  | "resolution"
  | "seconds"
  | "audio"
  | "image"
  | "lastFrame"
  | "prompt"
  | "size"
  | "source";

interface VideoNote {
  field: VideoField;
  action: "approximated" | "dropped";
  reason: string;
}

interface FittedVideo {
  call: FittedVideoCall;
  notes: VideoNote[];
  /** Width and height, if known before the video is made. */
  size?: string | undefined;
}

/** The most videos of one operation, for any provider. */
const MAX_VIDEOS = 4;

const OPTIONS = [
  "negativePrompt",
  "enhancePrompt",
  "personGeneration",
  "seed",
  "fps",
] as const satisfies readonly VideoOption[];

/**
 * Reduces a call to what one model accepts, and settles everything that its price depends on. An option that changes the price or
 * the result is met or refused (contract 2.1, 8); any other that the model does not have is dropped and noted.
 */
export function fitVideoCall(call: VideoCall, capabilities: VideoCapabilities, model: string): FittedVideo {
  const { source } = call;
  if (source !== undefined) return { call: fitDerived(call, source, capabilities, model), notes: [], size: call.size };
  refuseTooMuch(call, capabilities, model);
  const notes: VideoNote[] = [];
  const note = (field: VideoField, action: VideoNote["action"], reason: string) =>
    notes.push({ field, action, reason });
  const { aspectRatio: _ratio, size: _size, defaults: _defaults, ...rest } = call;
  const resolution = settleResolution(call, capabilities, model);
  const seconds = settleSeconds(call, resolution, capabilities, model);
  const fitted: FittedVideoCall = { ...rest, seconds, resolution, audio: settleAudio(call, capabilities, model) };
  refuseFps(call, capabilities, model);
  for (const option of OPTIONS) {
    if (call[option] === undefined || capabilities.takes.includes(option)) continue;
    delete fitted[option];
    if (option === "personGeneration") refuseExcludingPeople(call[option] ?? "", model);
    if (call[option] !== false) note(option, "dropped", "this model does not support this setting");
  }
  if (fitted.seed !== undefined) fitted.seed = foldSeed(fitted.seed, capabilities.seeds);
  if (fitted.seed !== undefined && fitted.seed !== call.seed) {
    note("seed", "approximated", `this model's seeds go up to ${capabilities.seeds?.max}; ${fitted.seed} is sent`);
  }
  if (fitted.personGeneration !== undefined && capabilities.people !== undefined) {
    fitted.personGeneration = settlePeople(fitted.personGeneration, capabilities.people, model);
    if (fitted.personGeneration !== call.personGeneration) {
      note("personGeneration", "approximated", `this model allows at most ${fitted.personGeneration}`);
    }
  }
  const ratio = settleRatio(call, capabilities, model);
  if (ratio !== undefined) fitted.aspectRatio = ratio;
  const size = sizeOf(fitted, capabilities);
  if (call.size !== undefined && call.size !== size)
    note(
      "size",
      "approximated",
      `this model makes ${resolution} in ${ratio}${size === undefined ? "" : `, about ${size}`}`,
    );
  return { call: fitted, notes, size };
}

const sizeOf = ({ resolution, aspectRatio }: FittedVideoCall, { sizes }: VideoCapabilities): string | undefined =>
  aspectRatio === undefined ? undefined : (sizes?.[resolution]?.[aspectRatio] ?? videoSizeOf(resolution, aspectRatio));

const DERIVATIONS: Readonly<Record<VideoDerivation, string>> = {
  remix: "make a remix of a video",
  edit: "edit a video",
  extend: "extend a video",
};

/** A video made from another has the shape of that one. The caller has set its length and resolution. */
function fitDerived(
  call: VideoCall,
  { kind, seconds: sourceSeconds }: VideoSource,
  capabilities: VideoCapabilities,
  model: string,
): FittedVideoCall {
  const offered = capabilities.derives?.[kind];
  if (offered === undefined) {
    const instead = "Create a new video with POST /v1/videos instead.";
    refuseSetting("source", `${model} cannot ${DERIVATIONS[kind]} through its provider's API. ${instead}`);
  }
  const { seconds = sourceSeconds, resolution = capabilities.resolutions[0] ?? "720p" } = call;
  if (offered !== true && !offered.includes(seconds))
    refuseField("seconds", `${model} extends videos by ${listed(offered)} seconds, not ${seconds}.`);
  return { ...call, seconds, resolution, audio: call.audio ?? capabilities.audio !== "never" };
}

function settleResolution({ resolution }: VideoCall, { resolutions }: VideoCapabilities, model: string): string {
  if (resolution === undefined) return resolutions[0] ?? "720p";
  if (resolutions.includes(resolution)) return resolution;
  return refuseField("resolution", `${model} generates videos at ${listed(resolutions)}, not ${resolution}.`);
}

function settleSeconds(
  { seconds, lastFrame, defaults }: VideoCall,
  resolution: string,
  capabilities: VideoCapabilities,
  model: string,
): number {
  // Some resolutions, and videos with a last frame, have fixed lengths.
  const tied = capabilities.tied?.find(
    (one) => one.resolutions?.includes(resolution) || (one.lastFrame === true && lastFrame !== undefined),
  );
  const lengths = tied?.seconds ?? capabilities.seconds;
  if (seconds === undefined && defaults !== undefined && isLength(defaults.seconds, lengths)) return defaults.seconds;
  const wanted = seconds ?? capabilities.defaultSeconds;
  if (isLength(wanted, lengths)) return wanted;
  if (seconds === undefined && isList(lengths) && lengths[0] !== undefined) return lengths[0];
  const condition =
    tied === undefined ? "" : ` with ${tied.resolutions?.includes(resolution) ? resolution : "a last frame"}`;
  const makes = isList(lengths) ? listed(lengths) : `${lengths.min} to ${lengths.max}`;
  return refuseField("seconds", `${model} generates videos of ${makes} seconds${condition}, not ${wanted}.`);
}

const isList = (lengths: VideoCapabilities["seconds"]): lengths is readonly number[] => Array.isArray(lengths);
const isLength = (seconds: number, lengths: VideoCapabilities["seconds"]): boolean =>
  isList(lengths) ? lengths.includes(seconds) : seconds >= lengths.min && seconds <= lengths.max;

function settleAudio({ audio }: VideoCall, capabilities: VideoCapabilities, model: string): boolean {
  if (capabilities.audio === "chosen") return audio ?? capabilities.defaultAudio ?? false;
  const sounds = capabilities.audio === "always";
  if (audio === undefined || audio === sounds) return sounds;
  const makes = sounds ? "only videos with audio" : "only silent videos";
  return refuseField("audio", `${model} generates ${makes}. Leave it out, or set it to ${sounds}.`);
}

function settleRatio(call: VideoCall, { ratios, shapedByImage }: VideoCapabilities, model: string): string | undefined {
  const { aspectRatio, image, defaults } = call;
  // The first frame sets the aspect ratio; a default must not crop it.
  if (aspectRatio === undefined) {
    if (image) return undefined;
    return ratios.find((ratio) => ratio === defaults?.aspectRatio) ?? ratios[0];
  }
  if (shapedByImage && image) {
    refuseSetting("aspectRatio", `Videos from ${model} have the aspect ratio of their first frame. Leave it out.`);
  }
  if (ratios.length === 0)
    refuseSetting("aspectRatio", `The aspect ratio of ${model}'s videos cannot be chosen. Leave it out.`);
  return (
    sameRatio(aspectRatio, ratios) ??
    refuseField("aspectRatio", `${model} generates videos in ${listed(ratios)}, not ${aspectRatio}.`)
  );
}

function refuseFps({ fps }: VideoCall, capabilities: VideoCapabilities, model: string): void {
  if (fps === undefined) return;
  if (!capabilities.takes.includes("fps")) {
    refuseSetting("fps", `The frame rate of ${model}'s videos cannot be chosen. Leave it out.`);
  }
  if (capabilities.fps !== undefined && !capabilities.fps.includes(fps)) {
    refuseField("fps", `${model} generates videos at ${listed(capabilities.fps)} frames per second, not ${fps}.`);
  }
}

function refuseTooMuch(call: VideoCall, capabilities: VideoCapabilities, model: string): void {
  if (call.count > MAX_VIDEOS) {
    refuseField("count", `${call.count} videos were requested; one operation generates at most ${MAX_VIDEOS}.`);
  }
  if (call.image && !capabilities.image) refuseField("image", `${model} does not accept a first frame.`);
  if (call.lastFrame && !capabilities.lastFrame) refuseField("lastFrame", `${model} does not accept a last frame.`);
  if (capabilities.imageOnly && !call.image)
    refuseField("image", `${model} animates an image; a first frame is required.`);
  if (call.lastFrame && !call.image) refuseField("lastFrame", "A last frame requires a first frame.");
  const { maxPrompt, promptNeeded } = capabilities;
  if (promptNeeded && !call.prompt) refuseField("prompt", `${model} requires a prompt in addition to the images.`);
  if (maxPrompt !== undefined && call.prompt !== undefined && [...call.prompt].length > maxPrompt) {
    refuseField(
      "prompt",
      `The prompt has ${[...call.prompt].length} characters; ${model} accepts at most ${maxPrompt}.`,
    );
  }
}
