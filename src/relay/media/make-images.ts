import type { Clock } from "../../base/clock.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { BodyCapture } from "../../capture/body-capture.ts";
import type { AttemptCapture } from "../../capture/call-capture.ts";
import type { AdapterContext, ImageAdapter, JobHandle, JobState } from "../../media/adapter.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { UpstreamImageReply } from "../../media/image-reply.ts";
import { forgottenJob } from "../../providers/media-adapters/failed-job.ts";
import type { Provider } from "../../providers/provider.ts";
import { type ExchangeOptions, isSuccess } from "../attempt/provider-exchange.ts";
import type { Gateway } from "../gateway.ts";
import { exchangeMedia, mediaOf } from "./exchange.ts";

/** High-quality images take minutes. This is the longest wait. */
const MAX_WAIT_MS = 600_000;
const DEFAULT_POLL_MS = 2_000;
const POLL_TIMEOUT_MS = 60_000;
/** Consecutive polls that may fail. The job is running and will be billed, so submitting it again would cost twice. */
const MAX_FAILED_POLLS = 5;

export interface ImageUpstream
  extends Pick<Gateway, "clock" | "send" | "streamMedia">,
    Pick<ExchangeOptions, "traceLines"> {
  provider: Provider;
  adapter: ImageAdapter;
  upstreamModel: string;
  jobName: string;
  signal: AbortSignal;
  /** Captures the bodies of the first request, if bodies are captured. */
  capture?: () => AttemptCapture | undefined;
  /** Called before a request for this many images is sent. */
  begin: (images: number) => void;
  /** Shortens poll intervals in tests. */
  pollFactor: number;
}

/** One request to the provider, polled if the provider responds later. */
export async function makeImages(call: FittedImageCall, upstream: ImageUpstream): Promise<UpstreamImageReply> {
  const { clock, send, provider, adapter, signal, traceLines } = upstream;
  const context = mediaOf(provider).context(upstream.upstreamModel, upstream.jobName);
  const deadlineMs = clock.nowMs() + MAX_WAIT_MS;
  const capture = upstream.capture?.();
  const options = { clock, send, signal, timeoutMs: MAX_WAIT_MS, traceLines, capture };
  const request = adapter.submit(call, context);
  upstream.begin(call.count);
  const first = await exchangeMedia(provider, request, options);
  if (!isSuccess(first)) throw adapter.error(first);
  let state: JobState<UpstreamImageReply> = adapter.readSubmit(first, call, context);
  let failedPolls = 0;
  while (state.state === "waiting") {
    if (clock.nowMs() > deadlineMs) {
      throw new GatewayError("upstream_timeout", "The provider took longer than ten minutes to generate the image.");
    }
    const pollIntervalMs = state.afterMs ?? adapter.pollIntervalMs ?? DEFAULT_POLL_MS;
    await sleep(pollIntervalMs * (1 + failedPolls) * upstream.pollFactor, clock, signal);
    try {
      state = await ask(state.job, upstream, context, capture?.answer);
      failedPolls = 0;
    } catch (thrown) {
      if (!isTemporary(thrown)) throw thrown;
      if (++failedPolls > MAX_FAILED_POLLS) throw unreachable(thrown);
    }
  }
  if (state.state === "failed") throw state.error;
  return state.reply;
}

async function ask(
  job: JobHandle,
  { clock, send, provider, adapter, signal, traceLines }: ImageUpstream,
  context: AdapterContext,
  kept: BodyCapture | undefined,
): Promise<JobState<UpstreamImageReply>> {
  if (!adapter.poll || !adapter.readPoll) throw new Error("an adapter with waiting jobs must have poll and readPoll");
  kept?.restart();
  const capture = kept && { answer: kept };
  const options = { clock, send, signal, timeoutMs: POLL_TIMEOUT_MS, traceLines, capture };
  const answer = await exchangeMedia(provider, adapter.poll(job, context), options);
  if (isSuccess(answer)) return adapter.readPoll(answer, job, context);
  const error = adapter.error(answer);
  // The host accepted the job and has forgotten it since. Nothing that the client named is missing.
  if (error.kind === "not_found") return { state: "failed", error: forgottenJob() };
  throw error;
}

/** Another offer may be tried; this one has accepted the job already. */
const unreachable = (cause: unknown): GatewayError =>
  new GatewayError("upstream_timeout", "The provider accepted the job but could not be polled for its result.", {
    cause,
  });

/** A temporary fault, which says nothing about the job. */
const isTemporary = (thrown: unknown): boolean =>
  ["upstream_failed", "upstream_timeout", "overloaded", "rate_limited"].includes(asGatewayError(thrown).kind);

async function sleep(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  const wake = () => resolve();
  signal.addEventListener("abort", wake);
  await promise;
  cancel();
  signal.removeEventListener("abort", wake);
  signal.throwIfAborted();
}
