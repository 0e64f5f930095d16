import type { Exchange } from "../../exchange.ts";
import type { JsonObject } from "../../json.ts";
import { chooseOutcome } from "../../media/choose-outcome.ts";
import type { MediaJob } from "../../media/jobs.ts";
import type { MediaContext } from "../../media/media-host.ts";
import { isHeldBack, playImmediateOutcome } from "../../media/play-outcome.ts";
import { publishVideo } from "../../media/publish.ts";
import { bodyOf, dashscopeError, FAILED, HELD_BACK, IMMEDIATE_ERRORS } from "./errors.ts";
import { choicesOf, KEPT_MS, linksOf, usageOf } from "./images/images.ts";
import type { ImagesRequest } from "./images/read-images.ts";
import type { VideoRequest } from "./videos/read-video.ts";

const HOST = "qwen tasks";
const FRAMES_PER_SECOND = 24;

interface TaskRequest {
  asked: ImagesRequest | VideoRequest;
  canceled: boolean;
}

type Task = MediaJob<TaskRequest>;

export function createTask(
  exchange: Exchange,
  context: MediaContext,
  key: string,
  read: (body: JsonObject) => ImagesRequest | VideoRequest,
): Response {
  if (exchange.headers.get("x-dashscope-async") !== "enable") {
    throw dashscopeError(403, "AccessDenied", "current user api does not support synchronous calls.");
  }
  const asked = read(bodyOf(exchange));
  exchange.countModel(asked.model);
  const outcome = chooseOutcome(asked.prompt, asked.kind === "images" ? asked.count : 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const request = { asked, canceled: false };
  const { id } = context.jobs.create({ id: crypto.randomUUID(), host: HOST, key, request, outcome });
  return Response.json({ output: { task_id: id, task_status: "PENDING" }, request_id: crypto.randomUUID() });
}

interface TaskResult {
  output: JsonObject;
  usage?: JsonObject;
}

const failed = (reason: JsonObject): TaskResult => ({ output: { task_status: "FAILED", ...reason } });

function imagesResult({ outcome }: Task, asked: ImagesRequest, context: MediaContext): TaskResult {
  const links = linksOf(asked, outcome, context);
  const made = links.filter((link) => link !== undefined);
  const counted = { TOTAL: links.length, SUCCEEDED: made.length, FAILED: links.length - made.length };
  if (made.length === 0) return failed({ ...HELD_BACK, task_metrics: counted });
  const usage = usageOf(asked, made.length);
  if (asked.answersWith === "choices") {
    const choices = choicesOf(made, asked.spread);
    return { output: { task_status: "SUCCEEDED", finished: true, choices }, usage };
  }
  const results = links.map((url) => (url === undefined ? HELD_BACK : { orig_prompt: asked.prompt, url }));
  return { output: { task_status: "SUCCEEDED", results, task_metrics: counted }, usage };
}

function videoResult({ outcome }: Task, asked: VideoRequest, context: MediaContext): TaskResult {
  if (isHeldBack(outcome, 0)) return failed(HELD_BACK);
  const { prompt, size, seconds, seed, audio, frames } = asked;
  const video = { prompt, ...size, seconds, fps: FRAMES_PER_SECOND, seed, audio, ...frames };
  return {
    output: {
      task_status: "SUCCEEDED",
      video_url: publishVideo(context, video, { outcome, keptMs: KEPT_MS }),
      orig_prompt: prompt,
      ...(asked.extends ? { actual_prompt: `${prompt} In the simulator's own light.` } : {}),
    },
    usage: {
      duration: seconds,
      output_video_duration: seconds,
      SR: asked.shortSide,
      size: `${size.width}*${size.height}`,
      video_count: 1,
      ratio: asked.ratio,
      fps: FRAMES_PER_SECOND,
    },
  };
}

function resultOf(task: Task, context: MediaContext): TaskResult {
  if (task.outcome === "fails") return failed(FAILED);
  const { asked } = task.request;
  return asked.kind === "images" ? imagesResult(task, asked, context) : videoResult(task, asked, context);
}

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(0, 23).replace("T", " ");

export function showTask(context: MediaContext, key: string, id: string): Response {
  const request_id = crypto.randomUUID();
  const task: Task | undefined = context.jobs.find(HOST, id, key);
  // A task that no longer exists is not an error here, but a status.
  if (task === undefined) return Response.json({ request_id, output: { task_id: id, task_status: "UNKNOWN" } });
  const times = { submit_time: timeOf(task.createdAtMs), scheduled_time: timeOf(task.startsAtMs) };
  if (task.request.canceled) {
    return Response.json({
      request_id,
      output: { task_id: id, task_status: "CANCELED", submit_time: times.submit_time },
    });
  }
  const phase = context.jobs.phase(task);
  if (phase === "queued") {
    return Response.json({
      request_id,
      output: { task_id: id, task_status: "PENDING", submit_time: times.submit_time },
    });
  }
  if (phase === "running")
    return Response.json({ request_id, output: { task_id: id, task_status: "RUNNING", ...times } });
  const { output, usage } = resultOf(task, context);
  return Response.json({
    request_id,
    output: { task_id: id, ...times, end_time: timeOf(task.endsAtMs), ...output },
    ...(usage === undefined ? {} : { usage }),
  });
}

/** Only what still waits in line can be called off. */
export function cancelTask(context: MediaContext, key: string, id: string): Response {
  const task: Task | undefined = context.jobs.find(HOST, id, key);
  if (task === undefined || context.jobs.phase(task) !== "queued") {
    throw dashscopeError(400, "UnsupportedOperation", "Failed to cancel the task, please confirm if it is pending.");
  }
  task.request.canceled = true;
  return Response.json({ request_id: crypto.randomUUID() });
}
