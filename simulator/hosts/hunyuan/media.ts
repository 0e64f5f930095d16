import type { Exchange } from "../../exchange.ts";
import { isObject, type JsonObject } from "../../json.ts";
import { chooseOutcome } from "../../media/choose-outcome.ts";
import { isJson } from "../../media/is-json.ts";
import type { MediaJob } from "../../media/jobs.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import type { Outcome } from "../../media/outcome.ts";
import { isHeldBack, playImmediateOutcome, waitFor } from "../../media/play-outcome.ts";
import { encodeImage, publishImage } from "../../media/publish.ts";
import type { ImageOptions } from "../../media-maker/paint-image.ts";
import { IMMEDIATE_ERRORS, tencentError } from "./errors.ts";
import { type HunyuanRequest, readRequest } from "./images/read-request.ts";
import { verifySignature } from "./verify-signature.ts";

const KEPT_MS = 3_600_000;
const HOST = "hunyuan";
const MAX_JOBS = 1;

/** The service that has an action, and the version that it is called with. */
const SERVICES: Readonly<Record<string, { service: string; version: string }>> = {
  SubmitTextToImageJob: { service: "aiart", version: "2022-12-29" },
  QueryTextToImageJob: { service: "aiart", version: "2022-12-29" },
  TextToImageLite: { service: "aiart", version: "2022-12-29" },
  SubmitHunyuanImageJob: { service: "hunyuan", version: "2023-09-01" },
  QueryHunyuanImageJob: { service: "hunyuan", version: "2023-09-01" },
};

type Job = MediaJob<HunyuanRequest>;

const answer = (said: JsonObject): Response => Response.json({ Response: { ...said, RequestId: crypto.randomUUID() } });

function takeJob(context: MediaContext, key: string, request: HunyuanRequest, outcome: Outcome | undefined): Job {
  if (context.jobs.running(HOST, key) >= MAX_JOBS) {
    throw tencentError("RequestLimitExceeded.JobNumExceed", `Only ${MAX_JOBS} job can run at a time.`);
  }
  const id = `${Math.floor(context.nowMs() / 1000)}-${crypto.randomUUID()}`;
  return context.jobs.create({ id, host: HOST, key, request, outcome });
}

function imageOf(request: HunyuanRequest, index: number): ImageOptions {
  const { prompt, size, seed, inputs, logo, action } = request;
  return { prompt, ...size, seed: seed + index, format: "png", inputs, note: logo ? `${action} LOGO` : action };
}

const HELD_BACK = ["OperationDenied.ImageIllegalDetected", "The image contains illegal information."] as const;
const FAILED = ["FailedOperation.GenerateImageFailed", "The image could not be generated."] as const;

const status = (code: string, word: string, [error, message]: readonly [string, string] = ["", ""]): JsonObject => ({
  JobStatusCode: code,
  JobStatusMsg: word,
  JobErrorCode: error,
  JobErrorMsg: message,
  ResultImage: [],
  ResultDetails: [],
  RevisedPrompt: [],
});

function query(context: MediaContext, key: string, body: JsonObject, submittedBy: string): Response {
  const id = body["JobId"];
  if (typeof id !== "string") throw tencentError("MissingParameter", "JobId is required.");
  const job: Job | undefined = context.jobs.find(HOST, id, key);
  if (job === undefined || job.request.action !== submittedBy) {
    throw tencentError("FailedOperation.JobNotExist", `The job ${id} does not exist.`);
  }
  const phase = context.jobs.phase(job);
  if (phase === "queued") return answer(status("1", "waiting"));
  if (phase === "running") return answer(status("2", "running"));
  if (job.outcome === "fails") return answer(status("4", "failed", FAILED));
  const { request, outcome } = job;
  const indexes = Array.from({ length: request.count }, (_, index) => index);
  const made = indexes.filter((index) => !isHeldBack(outcome, index));
  if (made.length === 0) return answer(status("4", "failed", HELD_BACK));
  return answer({
    ...status("5", "done"),
    ResultImage: made.map((index) => publishImage(context, imageOf(request, index), { outcome, keptMs: KEPT_MS })),
    ResultDetails: indexes.map((index) => (isHeldBack(outcome, index) ? HELD_BACK[1] : "Success")),
    RevisedPrompt: made.map(() =>
      request.revised ? `${request.prompt} In the simulator's own light.` : request.prompt,
    ),
  });
}

/** The one action that answers while the caller waits. */
async function generate(exchange: Exchange, context: MediaContext, job: Job): Promise<Response> {
  await waitFor(job, context, exchange.signal);
  if (job.outcome === "fails") throw tencentError(...FAILED);
  if (isHeldBack(job.outcome, 0)) throw tencentError(...HELD_BACK);
  const image = imageOf(job.request, 0);
  const made = job.request.encoded
    ? await encodeImage(image)
    : publishImage(context, image, { outcome: job.outcome, keptMs: KEPT_MS });
  return answer({ ResultImage: made, Seed: job.request.seed });
}

function checkHeaders({ headers }: Exchange, version: string): void {
  for (const name of ["x-tc-version", "x-tc-region", "x-tc-timestamp"]) {
    if (!headers.has(name)) throw tencentError("MissingParameter", `The header ${name} is required.`);
  }
  if (headers.get("x-tc-version") !== version) {
    throw tencentError("NoSuchVersion", `The version of this action is ${version}.`);
  }
  if (!isJson(headers)) {
    throw tencentError("InvalidParameter", "Content-Type must be application/json.");
  }
}

/** Tencent's Hunyuan: one URL, signed requests, actions in a header, and every error inside HTTP 200. */
export const hunyuanMedia: MediaHost = async (exchange, context) => {
  const named = exchange.headers.get("x-tc-action");
  if (named === null || exchange.method !== "POST") return undefined;
  const action = named === "standard" ? "SubmitTextToImageJob" : named;
  const called = Object.hasOwn(SERVICES, action) ? SERVICES[action] : undefined;
  if (called === undefined) throw tencentError("InvalidAction", `The action ${named} does not exist.`);
  checkHeaders(exchange, called.version);
  const key = verifySignature(exchange, called.service, context.nowMs());
  if (!isObject(exchange.body)) throw tencentError("InvalidParameter", "The body must be a JSON object.");
  if (action.startsWith("Query")) return query(context, key, exchange.body, action.replace("Query", "Submit"));

  const request = readRequest(action, exchange.body);
  exchange.countModel(named);
  const outcome = chooseOutcome(request.prompt, request.count, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const job = takeJob(context, key, request, outcome);
  return action === "TextToImageLite" ? generate(exchange, context, job) : answer({ JobId: job.id });
};
