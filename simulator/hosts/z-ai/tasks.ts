import type { JsonObject } from "../../json.ts";
import type { MediaContext } from "../../media/media-host.ts";
import type { Outcome } from "../../media/outcome.ts";
import { openaiError } from "../openai/text/errors.ts";

const HOST = "z-ai";
export const LINK_KEPT_MS = 30 * 24 * 3_600_000;

/** What is made in the background, an image or a video: both are asked for at one URL. */
export interface Task {
  model: string;
  requestId: string;
  /** What the host reports when it is done. */
  result: () => JsonObject;
  /** What the host reports with the failure where moderation held it back. */
  heldBack: JsonObject;
}

export function takeTask(task: Task, outcome: Outcome | undefined, context: MediaContext, key: string): Response {
  const { model, requestId } = task;
  // The host's own ids are a long row of digits, then of letters and digits.
  const id = `${context.nowMs()}-${crypto.randomUUID().replaceAll("-", "")}`;
  context.jobs.create({ id, host: HOST, key, request: task, outcome });
  return Response.json({ id, model, request_id: requestId, task_status: "PROCESSING" });
}

/** Failures stand inside a 200. */
export function tellTask(context: MediaContext, key: string, id: string): Response {
  const job = context.jobs.find<Task>(HOST, id, key);
  if (job === undefined) throw openaiError(404, `The task ${id} does not exist.`);
  const { model, requestId, result, heldBack } = job.request;
  const shared = { id, model, request_id: requestId };
  if (context.jobs.phase(job) !== "ended") return Response.json({ ...shared, task_status: "PROCESSING" });
  if (job.outcome === "moderated") return Response.json({ ...shared, task_status: "FAIL", ...heldBack });
  if (job.outcome === "fails") return Response.json({ ...shared, task_status: "FAIL" });
  return Response.json({ ...shared, task_status: "SUCCESS", ...result() });
}
