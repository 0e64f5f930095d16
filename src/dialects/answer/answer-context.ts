import type { JsonObject } from "../../base/json.ts";
import type { ServedOn } from "../../canon/terms.ts";
import type { Usage } from "../../canon/usage.ts";

/** What an answer to a client depends on, whether it is handed back as it came or written anew. */
export interface AnswerContext<Options = unknown> {
  publicModel: string;
  /** The client's request, for what it asked to see or not to see. */
  request: JsonObject;
  /** What the client asked for outside its body, as its dialect read it: only the dialect knows what is in it. */
  options: Options;
  makeId: () => string;
  /** When the request came. */
  receivedAtMs: number;
  nowSeconds: () => number;
  costUsd(usage: Usage): number;
  /** Takes the terms on which the host says that it has served the call, and tells them. */
  served?: ServedOn;
  /** Takes the whole answer, as the client gets it, once; absent where it is not kept. */
  keep?: (answer: JsonObject) => void;
  /** The id that the answer must have; absent: any. */
  answerId?: string;
}
