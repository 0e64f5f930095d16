import { GatewayError } from "../canon/error.ts";
import { nearestRatio, readRatio } from "./aspect-ratio.ts";
import { foldSeed } from "./number-range.ts";
import type { FittedVideoCall, VideoAbilities, VideoCall, VideoWish } from "./video-call.ts";

export type VideoField =
  | VideoWish
  | "count"
  | "aspectRatio"
  | "resolution"
  | "seconds"
  | "audio"
  | "image"
  | "lastFrame"
  | "prompt";

export interface VideoNote {
  field: VideoField;
  action: "approximated" | "dropped";
  reason: string;
}

/** Most videos of one operation, whatever the provider. */
export const MAX_VIDEOS = 4;

const WISHES = [
  "negativePrompt",
  "enhancePrompt",
  "personGeneration",
  "seed",
  "fps",
] as const satisfies readonly VideoWish[];

const LINES: ReadonlyMap<string, number> = new Map([
  ["2k", 1440],
  ["4k", 2160],
]);
const linesOf = (resolution: string): number => LINES.get(resolution) ?? Number.parseInt(resolution, 10);

/** Cuts a call to what one model takes, and settles everything that its price depends on. */
export function fitVideoCall(
  call: VideoCall,
  abilities: VideoAbilities,
  model: string,
): { call: FittedVideoCall; notes: VideoNote[] } {
  refuseTooMuch(call, abilities, model);
  const notes: VideoNote[] = [];
  const note = (field: VideoField, action: VideoNote["action"], reason: string) =>
    notes.push({ field, action, reason });
  const { aspectRatio: _ratio, fps: _fps, ...rest } = call;
  const resolution = nearestResolution(call.resolution, abilities.resolutions);
  if (call.resolution !== undefined && resolution !== call.resolution) {
    note("resolution", "approximated", `the nearest resolution of this model is ${resolution}`);
  }
  const seconds = nearestSeconds(call.seconds ?? abilities.usualSeconds, lengthsOf(call, resolution, abilities));
  if (call.seconds !== undefined && seconds !== call.seconds) {
    note("seconds", "approximated", `the nearest length of this model is ${seconds} s`);
  }
  const audio =
    abilities.audio === "chosen" ? (call.audio ?? abilities.usualAudio ?? false) : abilities.audio === "always";
  if (call.audio !== undefined && call.audio !== audio) {
    note("audio", "dropped", audio ? "this model's videos always have sound" : "this model's videos have no sound");
  }
  const fitted: FittedVideoCall = { ...rest, seconds, resolution, audio };
  for (const wish of WISHES) {
    if (call[wish] === undefined || abilities.takes.includes(wish)) continue;
    delete fitted[wish];
    if (call[wish] !== false) note(wish, "dropped", "this model has no such setting");
  }
  if (fitted.seed !== undefined) fitted.seed = foldSeed(fitted.seed, abilities.seeds);
  if (fitted.seed !== undefined && fitted.seed !== call.seed) {
    note("seed", "approximated", `the seeds of this model go to ${abilities.seeds?.max}; it is told ${fitted.seed}`);
  }
  settlePeople(abilities, fitted, note);
  settleFps(call, abilities, fitted, note);
  const ratio = settleRatio(call, abilities, note);
  if (ratio !== undefined) fitted.aspectRatio = ratio;
  return { call: fitted, notes };
}

type Note = (field: VideoField, action: VideoNote["action"], reason: string) => void;

function settleRatio(call: VideoCall, { ratios, shapedByImage }: VideoAbilities, note: Note): string | undefined {
  // A first frame has a shape of its own, which a default must not cut.
  if (call.aspectRatio === undefined) return call.image ? undefined : ratios[0];
  if (shapedByImage && call.image) {
    note("aspectRatio", "dropped", "the film has the shape of its first frame");
    return undefined;
  }
  if (ratios.includes(call.aspectRatio)) return call.aspectRatio;
  const nearest = nearestRatio(readRatio(call.aspectRatio) ?? 16 / 9, ratios);
  if (nearest === undefined) note("aspectRatio", "dropped", "this model chooses the shape by itself");
  else note("aspectRatio", "approximated", `the nearest shape of this model is ${nearest}`);
  return nearest;
}

function settlePeople({ people }: VideoAbilities, fitted: FittedVideoCall, note: Note): void {
  const { personGeneration } = fitted;
  const widest = people?.at(-1);
  if (personGeneration === undefined || widest === undefined || people?.includes(personGeneration)) return;
  fitted.personGeneration = widest;
  note("personGeneration", "approximated", `the nearest word of this model is ${widest}`);
}

function settleFps(call: VideoCall, { takes, fps }: VideoAbilities, fitted: FittedVideoCall, note: Note): void {
  if (call.fps === undefined || !takes.includes("fps")) return;
  const wanted = call.fps;
  const nearest =
    fps?.reduce((best, rate) => (Math.abs(rate - wanted) < Math.abs(best - wanted) ? rate : best)) ?? wanted;
  fitted.fps = nearest;
  if (nearest !== wanted) note("fps", "approximated", `the nearest frame rate of this model is ${nearest}`);
}

/** Some resolutions, and a last frame, come in certain lengths only. */
function lengthsOf(call: VideoCall, resolution: string, abilities: VideoAbilities): VideoAbilities["seconds"] {
  const tied = abilities.tied?.find(
    (one) => one.resolutions?.includes(resolution) || (one.lastFrame === true && call.lastFrame !== undefined),
  );
  return tied?.seconds ?? abilities.seconds;
}

function nearestSeconds(wanted: number, allowed: VideoAbilities["seconds"]): number {
  if (!Array.isArray(allowed)) {
    const { min, max } = allowed as { min: number; max: number };
    return Math.min(max, Math.max(min, Math.round(wanted)));
  }
  // Of two as near, the longer one: nobody misses a second that is there.
  return (allowed as readonly number[]).reduce((best, one) => {
    const closer = Math.abs(one - wanted) - Math.abs(best - wanted);
    return closer < 0 || (closer === 0 && one > best) ? one : best;
  });
}

function nearestResolution(wanted: string | undefined, allowed: readonly string[]): string {
  const usual = allowed[0] ?? "720p";
  if (wanted === undefined) return usual;
  if (allowed.includes(wanted)) return wanted;
  const lines = linesOf(wanted);
  const distance = (resolution: string) => Math.abs(linesOf(resolution) - lines);
  return allowed.reduce((best, one) => (distance(one) < distance(best) ? one : best), usual);
}

function refuseTooMuch(call: VideoCall, abilities: VideoAbilities, model: string): void {
  const refuse = (path: VideoField, problem: string): never => {
    throw new GatewayError("invalid_request", problem, { path });
  };
  if (call.count > MAX_VIDEOS) {
    refuse("count", `${call.count} videos were asked for; one operation makes at most ${MAX_VIDEOS}.`);
  }
  if (call.image && !abilities.image) refuse("image", `${model} takes no first frame.`);
  if (call.lastFrame && !abilities.lastFrame) refuse("lastFrame", `${model} takes no last frame.`);
  if (abilities.imageOnly && !call.image) refuse("image", `${model} animates a picture: a first frame is needed.`);
  if (call.lastFrame && !call.image) refuse("lastFrame", "A last frame needs a first one.");
  const { maxPrompt, promptNeeded } = abilities;
  if (promptNeeded && !call.prompt) refuse("prompt", `${model} needs a prompt beside its pictures.`);
  if (maxPrompt !== undefined && call.prompt !== undefined && [...call.prompt].length > maxPrompt) {
    refuse("prompt", `The prompt has ${[...call.prompt].length} characters; ${model} takes at most ${maxPrompt}.`);
  }
}
