import type { AnswerKind } from "./hosts/host-answers.ts";
import { postJson } from "./post-json.ts";
import type { StreamPlan } from "./stream-plan.ts";

/** Tells the process of `upstream.ts` how to answer and to stream. */
export class UpstreamControl {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  plan = (plan: StreamPlan): Promise<void> => postJson(`${this.url}/streams`, plan);
  /** How it answers requests that are not streamed; short at first. */
  answer = (kind: AnswerKind): Promise<void> => postJson(`${this.url}/answers`, kind);
  /** Ends the paced streams properly; returns the total number of content chunks sent. */
  finish = (): Promise<number> => postJson(`${this.url}/finish`, {});
}
