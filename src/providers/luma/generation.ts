import { objectAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { JobHandle, JobState, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { generationError } from "./errors.ts";

export const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "9:21"];

export const pollGeneration = (job: JobHandle): MediaRequest => ({
  method: "GET",
  url: `/generations/${encodeURIComponent(stringAt(job, "id") ?? "")}`,
});

/** The answers to the submit and to every poll are the same object. */
export function readGeneration<Reply>(
  { body }: MediaAnswer,
  asset: "video" | "image",
  made: (url: string) => Reply,
  failed: (error: GatewayError) => JobState<Reply>,
): JobState<Reply> {
  const id = stringAt(body, "id");
  if (!id) throw emptyAnswer("the id of a generation");
  const state = stringAt(body, "state");
  if (state === "failed") return failed(generationError(body));
  if (state !== "completed") return { state: "waiting", job: { id } };
  const url = stringAt(objectAt(body, "assets"), asset);
  return url ? { state: "done", reply: made(url) } : failed(emptyAnswer(`the ${asset}`));
}
