import { GatewayError } from "../../canon/error.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { UpstreamImageReply } from "../../media/image-reply.ts";
import type { ImageWire, JobState } from "../../media/media-wire.ts";
import { forgottenJob } from "../../providers/media/unmade.ts";
import type { Provider } from "../../providers/provider.ts";
import { exchangeMedia, isSuccess, mediaOf } from "./exchange.ts";

/** A picture of the highest quality takes minutes; one that takes longer is not waited for. */
const MAX_WAIT_MS = 600_000;
const USUAL_PACE_MS = 2_000;

export interface ImageJob {
  provider: Provider;
  wire: ImageWire;
  upstreamModel: string;
  jobName: string;
  signal: AbortSignal;
  /** Tests do not want to wait as long as hosts want us to. */
  paceFactor: number;
}

/** One call to the provider, waited for where the provider answers later. */
export async function makeImages(call: FittedImageCall, job: ImageJob): Promise<UpstreamImageReply> {
  const { provider, wire, signal } = job;
  const context = mediaOf(provider).context(job.upstreamModel, job.jobName);
  const deadlineMs = performance.now() + MAX_WAIT_MS;
  const patience = { signal, timeoutMs: MAX_WAIT_MS };
  const first = await exchangeMedia(provider, wire.submit(call, context), patience);
  if (!isSuccess(first)) throw wire.error(first);
  let state: JobState<UpstreamImageReply> = wire.readSubmit(first, call, context);
  while (state.state === "waiting") {
    if (performance.now() > deadlineMs) {
      throw new GatewayError("upstream_timeout", "The provider took longer than ten minutes over the picture.");
    }
    await sleep((state.afterMs ?? wire.pollEveryMs ?? USUAL_PACE_MS) * job.paceFactor, signal);
    if (!wire.poll || !wire.readPoll) throw new Error("a wire whose jobs wait must say how they are asked about");
    const answer = await exchangeMedia(provider, wire.poll(state.ticket, context), { signal, timeoutMs: 60_000 });
    if (!isSuccess(answer)) throw pollFailure(wire.error(answer));
    state = wire.readPoll(answer, state.ticket, context);
  }
  if (state.state === "failed") throw state.error;
  return state.reply;
}

/** A job that was taken and is not found has been forgotten by its host: nothing that the client named is missing. */
const pollFailure = (error: GatewayError): GatewayError => (error.kind === "not_found" ? forgottenJob() : error);

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const wake = () => resolve();
  signal.addEventListener("abort", wake);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", wake);
  signal.throwIfAborted();
}
