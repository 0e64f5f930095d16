import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { JobHandle, JobState, MediaAnswer } from "../../media/adapter.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { readJobFailure, readRefusal } from "./errors.ts";

export function readTaskId({ body }: MediaAnswer): string {
  const id = stringAt(objectAt(body, "data"), "task_id");
  if (id) return id;
  throw readRefusal(body) ?? emptyAnswer("the name of a task");
}

/** The state of a task; `finish` and `fail` make the reply for images or videos. */
export function readTask<Reply>(
  { body }: MediaAnswer,
  job: JobHandle,
  finish: (result: JsonObject | undefined) => Reply,
  fail: (error: GatewayError) => JobState<Reply>,
): JobState<Reply> {
  const data = objectAt(body, "data");
  const status = stringAt(data, "task_status");
  if (data === undefined || status === undefined) throw readRefusal(body) ?? emptyAnswer("the status of the task");
  if (status === "succeed") return { state: "done", reply: finish(objectAt(data, "task_result")) };
  return status === "failed" ? fail(readJobFailure(data)) : { state: "waiting", job };
}
