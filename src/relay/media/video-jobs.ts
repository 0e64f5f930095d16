import { GatewayError } from "../../canon/error.ts";
import type { KeptVideo, Operation, OperationPart } from "../../canon/operation.ts";
import type { JobState, VideoAdapter } from "../../media/adapter.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import type { JobRunner } from "../../operations/poller.ts";
import { forgottenJob } from "../../providers/media-adapters/failed-job.ts";
import type { Provider } from "../../providers/provider.ts";
import { isSuccess } from "../attempt/provider-exchange.ts";
import type { Gateway } from "../gateway.ts";
import { exchangeMedia, mediaOf } from "./exchange.ts";
import { fetchResult } from "./fetch-result.ts";
import { pollLines } from "./trace-operation.ts";

const POLL_TIMEOUT_MS = 60_000;
/** The poll interval for a video, unless its adapter has another. */
export const DEFAULT_VIDEO_POLL_MS = 10_000;

/** Polls providers for jobs and downloads their videos, always with the credential that submitted the job (H24). */
export class VideoJobs implements JobRunner {
  readonly #gateway: Gateway;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  async poll(operation: Operation, part: OperationPart, signal: AbortSignal): Promise<JobState<VideoReply>> {
    const { provider, adapter } = this.#bound(operation);
    if (!adapter.poll || !adapter.readPoll || part.providerJob === undefined)
      throw new Error("a video job cannot be polled");
    const context = mediaOf(provider).context(operation.job.upstreamModel, operation.id);
    const request = adapter.poll(part.providerJob, context);
    try {
      const answer = await exchangeMedia(provider, request, {
        clock: this.#gateway.clock,
        send: this.#gateway.send,
        signal,
        timeoutMs: POLL_TIMEOUT_MS,
        traceLines: pollLines(operation, provider, this.#gateway),
      });
      if (isSuccess(answer)) return redacted(adapter.readPoll(answer, part.providerJob, context), provider);
      const error = adapter.error(answer);
      // The host's id of the job is not shown to the client.
      if (error.kind === "not_found") return { state: "failed", error: provider.redactError(forgottenJob()) };
      throw error;
    } catch (thrown) {
      throw thrown instanceof GatewayError ? provider.redactError(thrown) : thrown;
    }
  }

  pollIntervalMs(operation: Operation): number {
    const pollIntervalMs = this.#find(operation)?.adapter.pollIntervalMs ?? DEFAULT_VIDEO_POLL_MS;
    return pollIntervalMs * this.#gateway.timings.mediaPollFactor;
  }

  async keep(operation: Operation, source: VideoReply["videos"][number], signal: AbortSignal): Promise<KeptVideo> {
    const { provider } = this.#bound(operation);
    const { files, clock, send, streamMedia } = this.#gateway;
    const traceLines = pollLines(operation, provider, this.#gateway);
    const video =
      "url" in source
        ? await fetchResult(source, { clock, send, streamMedia, provider, signal, traceLines })
        : { mimeType: source.mimeType, content: Buffer.from(source.base64, "base64") };
    const { project, id: owner } = operation;
    const file = await files.keep({ project, owner, ...video, nowMs: clock.nowMs() });
    return { file: file.id, mimeType: file.mimeType };
  }

  #bound(operation: Operation): { provider: Provider; adapter: VideoAdapter } {
    const found = this.#find(operation);
    if (found) return found;
    const message = `The configuration of provider ${operation.provider} has changed since it accepted this job.`;
    throw new GatewayError("upstream_credentials", message);
  }

  /** By name and credential: a provider of the same name with another key did not accept the job. */
  #find(operation: Operation): { provider: Provider; adapter: VideoAdapter } | undefined {
    const { providers } = this.#gateway.snapshot;
    const all = [...(providers.get(operation.provider) ?? []), ...[...providers.values()].flat()];
    const provider = all.find(({ media }) => media?.credential === operation.credential);
    const adapter = provider?.media?.videos(operation.job.upstreamModel);
    return provider && adapter ? { provider, adapter } : undefined;
  }
}

/** Removes the provider's secrets from its reasons for not making a video (S10). */
function redacted(state: JobState<VideoReply>, provider: Provider): JobState<VideoReply> {
  if (state.state === "failed") return { ...state, error: provider.redactError(state.error) };
  if (state.state !== "done") return state;
  const filtered = state.reply.filtered.map((reason) => provider.redact(reason));
  return { ...state, reply: { ...state.reply, filtered } };
}
