import type { HostedAnswer, HostedImages, HostedImagesTool } from "../../dialects/request/hosted-images.ts";
import type { Call, IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { requestWith } from "./hosted-request.ts";

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
  gateway: Gateway;
  answer: HostedAnswer;
  /** The client's request, as the basis for calls that the gateway makes on its behalf. */
  incoming: IncomingCall;
  /** Calls the model again, as a separate call. */
  ask: (incoming: IncomingCall) => Promise<Response>;
}

export function askAgain({ answer, incoming, ask }: HostedRounds): Promise<Response> {
  return ask({ ...incoming, request: requestWith(incoming.request, answer.request), isFollowUp: true });
}

export async function keepHosted({ saver }: Call, whole: Record<string, unknown>): Promise<void> {
  saver?.take(saver, whole);
  await saver?.save(saver);
}
