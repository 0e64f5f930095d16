import type { Exchange } from "../../exchange.ts";
import type { JsonObject } from "../../json.ts";
import { chooseOutcome } from "../../media/choose-outcome.ts";
import { isJson } from "../../media/is-json.ts";
import type { MediaJob } from "../../media/jobs.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import { playImmediateOutcome } from "../../media/play-outcome.ts";
import { publishImage } from "../../media/publish.ts";
import { detailError, IMMEDIATE_ERRORS } from "./errors.ts";
import { type FluxRequest, readRequest } from "./images/read-request.ts";

const KEPT_MS = 10 * 60_000;
const POLLING_PATH = "/hosts/black-forest-labs/regions/us1/v1/get_result";

/** One model has a separate, smaller queue. */
const LINES = [
  { host: "black-forest-labs", maxActive: 24, has: (model: string) => model !== "flux-kontext-max" },
  { host: "black-forest-labs kontext-max", maxActive: 6, has: (model: string) => model === "flux-kontext-max" },
] as const;

type Task = MediaJob<FluxRequest>;

function submit(exchange: Exchange, context: MediaContext, key: string, model: string): Response {
  if (!isJson(exchange.headers)) {
    throw detailError(400, "The content type must be application/json.");
  }
  const request = readRequest(model, exchange.body);
  exchange.countModel(model);
  const outcome = chooseOutcome(request.prompt, 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const line = LINES.find(({ has }) => has(model)) ?? LINES[0];
  if (context.jobs.running(line.host, key) >= line.maxActive) {
    throw detailError(429, `You have more than ${line.maxActive} active tasks.`);
  }
  const { id } = context.jobs.create({ id: crypto.randomUUID(), host: line.host, key, request, outcome });
  const megapixels = (request.size.width * request.size.height) / 1_000_000;
  return Response.json({
    id,
    polling_url: `${context.baseUrl}${POLLING_PATH}?id=${id}`,
    cost: Math.ceil(3 + 1.5 * Math.max(0, megapixels - 1)),
    input_mp: Number(request.inputMegapixels.toFixed(2)),
    output_mp: Number(megapixels.toFixed(2)),
  });
}

function statusOf(task: Task, context: MediaContext): string {
  if (task.outcome === "blocked") return "Request Moderated";
  if (context.jobs.phase(task) !== "ended") return "Pending";
  if (task.outcome === "fails") return "Error";
  return task.outcome === "moderated" ? "Content Moderated" : "Ready";
}

function resultOf({ request, outcome, startsAtMs, endsAtMs }: Task, context: MediaContext): JsonObject {
  const { prompt, size, seed, format, inputs, model } = request;
  return {
    sample: publishImage(context, { prompt, ...size, seed, format, inputs, note: model }, { outcome, keptMs: KEPT_MS }),
    prompt,
    seed,
    start_time: startsAtMs / 1000,
    end_time: endsAtMs / 1000,
    duration: (endsAtMs - startsAtMs) / 1000,
  };
}

const MODERATION: Readonly<Record<string, JsonObject>> = {
  "Request Moderated": { "Moderation Reasons": ["Safety Filter"] },
  "Content Moderated": { "Moderation Reasons": ["Derivative Works Filter"] },
};

function poll(exchange: Exchange, context: MediaContext, key: string): Response {
  const id = exchange.url.searchParams.get("id");
  if (id === null) throw detailError(422, "The query parameter id is required.");
  const found = LINES.map(({ host }): Task | undefined => context.jobs.find(host, id, key));
  const task = found.find((candidate) => candidate !== undefined);
  const nothing = { result: null, progress: null, details: null, preview: null };
  if (task === undefined) return Response.json({ id, status: "Task not found", ...nothing });
  const status = statusOf(task, context);
  return Response.json({
    id,
    status,
    ...nothing,
    ...(status === "Pending" ? { progress: context.jobs.progress(task) / 100 } : {}),
    ...(status === "Ready" ? { result: resultOf(task, context) } : {}),
    details: MODERATION[status] ?? null,
  });
}

/** Black Forest Labs: every model is a URL, and every image a task that is polled elsewhere. */
export const blackForestLabsMedia: MediaHost = async (exchange, context) => {
  const name = /\/v1\/([\w.-]+)$/.exec(exchange.url.pathname)?.[1];
  if (name === undefined) return undefined;
  const key = exchange.headers.get("x-key") ?? "";
  if (!context.acceptsKey(key)) throw detailError(403, "Not authenticated - Invalid Authentication");
  if (name === "get_result" && exchange.method === "GET") return poll(exchange, context, key);
  if (exchange.method !== "POST") throw detailError(405, "Method Not Allowed");
  return submit(exchange, context, key, name);
};
