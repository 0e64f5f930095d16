import { postJson } from "./post-json.ts";
import type { StreamPlan } from "./stream-plan.ts";

/** Tells the process of `upstream.ts` how to stream. */
export class UpstreamControl {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  plan = (plan: StreamPlan): Promise<void> => postJson(`${this.url}/streams`, plan);
  /** Ends the paced streams properly; returns the total number of content chunks sent. */
  finish = (): Promise<number> => postJson(`${this.url}/finish`, {});
}
