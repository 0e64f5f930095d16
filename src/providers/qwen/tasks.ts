import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { JobHandle, JobState, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import { forgottenJob } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { readFailure } from "./errors.ts";

/** Without it the host would answer only when the work is done, or refuse. */
const ASYNCHRONOUS = { "x-dashscope-async": "enable" };

export const submitTask = (path: string, json: JsonObject): MediaRequest => ({
  method: "POST",
  url: `/services/aigc/${path}`,
  headers: ASYNCHRONOUS,
  body: { json },
});

export function readSubmittedTask({ body }: MediaAnswer): { state: "waiting"; job: JobHandle } {
  const id = stringAt(objectAt(body, "output"), "task_id");
  if (id) return { state: "waiting", job: { id } };
  throw refusalIn(body) ?? emptyAnswer("the name of a task");
}

export const pollTask = (job: JobHandle): MediaRequest => ({
  method: "GET",
  url: `/tasks/${encodeURIComponent(stringAt(job, "id") ?? "")}`,
});

/** The state of a task; `finish` and `fail` make the reply for images or videos. A task fails with HTTP 200. */
export function readTask<Reply>(
  { body }: MediaAnswer,
  job: JobHandle,
  finish: (body: JsonObject, output: JsonObject) => JobState<Reply>,
  fail: (error: ReturnType<typeof readFailure>) => JobState<Reply>,
): JobState<Reply> {
  const output = objectAt(body, "output");
  const status = stringAt(output, "task_status");
  if (body === undefined || output === undefined || status === undefined) {
    throw refusalIn(body) ?? emptyAnswer("the status of the task");
  }
  switch (status) {
    case "SUCCEEDED":
      return finish(body, output);
    case "FAILED":
    case "CANCELED":
      return fail(readFailure(output));
    // The host's state for a task that it does not have, or no longer has.
    case "UNKNOWN":
      return { state: "failed", error: forgottenJob() };
    default:
      return { state: "waiting", job };
  }
}

/** An error in an answer with a status of 2xx. */
export const refusalIn = (body: JsonObject | undefined): ReturnType<typeof readFailure> | undefined =>
  stringAt(body, "code") ? readFailure(body) : undefined;
