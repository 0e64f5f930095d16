import type { SimulatedTextModel } from "../../src/catalogue/simulated-models.ts";
import type { StoredBatches } from "../batches/stored-batches.ts";
import type { FailureName, HostError } from "../host-error.ts";
import type { StoredCaches } from "../hosts/google/stored-caches.ts";
import type { Json } from "../json.ts";
import type { Wait } from "../play.ts";
import type { StoredFiles } from "../stored-files.ts";
import type { Plan } from "./plan.ts";
import type { PrefixCache } from "./prefix-cache.ts";
import type { Prompt } from "./prompt.ts";
import type { Traits } from "./traits.ts";

/** A request for an answer, read from the socket. */
export interface IncomingCall {
  url: URL;
  method: string;
  headers: Headers;
  body: Json;
  /** Stands for the caller where something is counted for each key. */
  key: string;
  /** The model's name as the caller wrote it. */
  modelName: string;
}

export interface SimulatedModel {
  facts: SimulatedTextModel;
  traits: Traits;
}

/** One write of a streamed body. */
export interface Frame {
  text: string;
  /** Part of the answer itself, rather than of its opening or closing. */
  content: boolean;
  tokens: number;
}

export interface Rendered {
  headers: Record<string, string>;
  /** The whole answer, for a request that does not stream. */
  whole(): string;
  frames(): Frame[];
  frameType: string;
  /** The frames are bytes, one to a character of their texts, and no write ends where a frame does. */
  binary?: true;
  /** What this host sends when it fails in mid-stream; `first` if nothing was sent before. */
  errorFrame(first: boolean): string;
  /** A frame that is well framed and not JSON. */
  garbageFrame: string;
}

/** A validated request, and how its answer is put into the protocol's words. */
export interface ReadCall {
  prompt: Prompt;
  stream: boolean;
  render(plan: Plan): Rendered;
}

/** One host's language. Everything that is refused is thrown as a HostError. */
export interface TextAdapter {
  /** Prefix caches are not shared between families. */
  family: "openai" | "anthropic" | "google" | "bedrock";
  /** Whether prompts are cached only where the caller marked them. */
  cachesMarkedOnly: boolean;
  read(call: IncomingCall, model: SimulatedModel): ReadCall;
  /** Reads nothing but whether to stream: for the model that shows what arrived, right or wrong. */
  readUnchecked(call: IncomingCall, model: SimulatedModel): ReadCall;
  notFound(call: IncomingCall): HostError;
  tooLong(tokens: number, limit: number): HostError;
  failure(name: FailureName, model: string): HostError;
}

/** What outlives a call. */
export interface SimulatorState {
  prefixes: PrefixCache;
  /** How often each key has met each flaky model. */
  flaky: Map<string, number>;
  /** Google's caches. */
  caches: StoredCaches;
  files: StoredFiles;
  batches: StoredBatches;
  tokenDelayMs: number;
  wait: Wait;
}

export function emptyPrompt(): Prompt {
  return {
    system: [],
    turns: [],
    tools: [],
    choice: { mode: "auto" },
    parallel: true,
    format: { type: "text" },
    stop: [],
    thinking: "off",
    search: false,
    storedTokens: 0,
  };
}
