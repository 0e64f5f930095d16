import type { HostedAnswer, HostedImages, HostedImagesTool } from "../../dialects/request/hosted-images.ts";
import type { Call, IncomingCall } from "../call.ts";
import type { Work } from "../derived/work.ts";
import type { Gateway } from "../gateway.ts";

/** A request for images in the middle of a response, and the model that generates them. */
export interface HostedImageTask {
  hosted: HostedImages;
  tool: HostedImagesTool;
  /** The id of the model. */
  imageModel: string;
}

/** The state that the rounds of one response share. */
export interface HostedRounds extends HostedImageTask {
  call: Call;
  /** The calls that the gateway makes. */
  work: Work;
  answer: HostedAnswer;
  /** Calls the model again, as a separate call. */
  ask: (incoming: IncomingCall, gateway: Gateway) => Promise<Response>;
}

export async function askAgain({ answer, call, work, ask }: HostedRounds): Promise<Response> {
  const { verb, options, streamInPath } = call.incoming;
  const next = work.next("hosted_round", answer.request, call.incoming);
  return ask({ ...next, verb, options, streamInPath }, work.gateway);
}

export async function keepHosted({ saver }: Call, whole: Record<string, unknown>): Promise<void> {
  saver?.take(saver, whole);
  await saver?.save(saver);
}
