import { arrayAt, type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { JobHandle, JobState, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { taskError } from "./errors.ts";

export const SEEDS = { min: 0, max: 4_294_967_295 };

const HEADERS = { "x-runway-version": "2024-11-06" };
const FAILED: ReadonlySet<string> = new Set(["FAILED", "CANCELLED"]);

/** Shared by images and videos: a task is submitted, and polled until it is finished. */
export const submitTask = (url: string, json: JsonObject): MediaRequest => ({
  method: "POST",
  url,
  headers: HEADERS,
  body: { json },
});

export function readTaskId({ body }: MediaAnswer): { state: "waiting"; job: JobHandle } {
  const id = stringAt(body, "id");
  if (!id) throw emptyAnswer("the id of a task");
  return { state: "waiting", job: { id } };
}

export const pollTask = (job: JobHandle): MediaRequest => ({
  method: "GET",
  url: `/tasks/${encodeURIComponent(stringAt(job, "id") ?? "")}`,
  headers: HEADERS,
});

/** The vendor asks for at most one poll of a task in five seconds. */
export const TASK_POLL_MS = 5000;

export function readTask<Reply>(
  { body }: MediaAnswer,
  job: JobHandle,
  made: (urls: readonly string[]) => Reply,
  failed: (error: GatewayError) => JobState<Reply>,
): JobState<Reply> {
  const status = stringAt(body, "status");
  if (status === undefined) throw emptyAnswer("the status of a task");
  if (FAILED.has(status)) return failed(taskError(body, status));
  if (status !== "SUCCEEDED") {
    const part = numberAt(body, "progress");
    return { state: "waiting", job, ...(part === undefined ? {} : { progress: Math.round(part * 100) }) };
  }
  const urls = arrayAt(body, "output").filter((url) => typeof url === "string");
  return urls.length > 0 ? { state: "done", reply: made(urls) } : failed(emptyAnswer("any output"));
}
