import type { JsonObject } from "../../base/json.ts";
import type { ServedOn } from "../../canon/terms.ts";
import type { Usage } from "../../canon/usage.ts";

/** What a response to a client depends on, whether it is forwarded or rewritten. */
export interface AnswerContext<Options = unknown> {
  publicModel: string;
  /** The client's request, for what it asked to see or not to see. */
  request: JsonObject;
  /** What the client requested outside its body, as read by its dialect. */
  options: Options;
  makeId: () => string;
  /** When the request arrived. */
  receivedAtMs: number;
  nowSeconds: () => number;
  costUsd(usage: Usage): number;
  /** Receives the terms on which the host says it served the call. */
  served?: ServedOn;
  /** Receives the whole response as the client gets it, once; absent if it is not stored. */
  keep?: (answer: JsonObject) => void;
  /** The id that the response must have; any if absent. */
  answerId?: string;
}
