import type { ScriptedDialect } from "../testing/sampled-dialects.ts";

/** What goes wrong with one request to a provider. */
export const FAULTS = [
  // No response.
  "refused",
  "stale",
  "broken",
  "silent",
  // An error response.
  "status",
  "error_in_200",
  // An invalid response.
  "html",
  "garbage",
  // A response that begins well. `at` says where it stops doing so.
  "cut",
  "stall",
  "error_event",
  "closed_early",
  "garbage_event",
] as const;
export type Fault = (typeof FAULTS)[number];

/** What a provider reports about usage. */
type UsageTold = "true" | "none" | "zero" | "twice";

/** What a provider does with one request. */
export interface Behaviour {
  /** Time until the head of its response. */
  delayMs: number;
  /** Time between two chunks. */
  gapMs: number;
  /** Events per chunk; chunks of 0 events end in the middle of one. */
  eventsPerChunk: number;
  usage: UsageTold;
  /** How it continues a response if asked to; honestly if absent. */
  continues?: "from the start" | "with a repetition";
  fault?: Fault;
  /** For `status`. */
  status?: number;
  retryAfterSeconds?: number;
  /** For responses that begin well: the number of events before the fault. */
  at?: number;
}

/** What a client does with its response. */
export interface Reading {
  /** It disconnects this long after sending its request. */
  leavesAfterMs?: number;
  /** It disconnects after reading this many chunks. */
  leavesAfterChunks?: number;
  /** It stops reading for this long after its first chunk. */
  stallsMs?: number;
}

/** The routing options of a call. */
export interface AskedRouting {
  type?: "priority" | "round_robin" | "least_latency";
  primaryFactor?: "cost" | "speed" | "quality";
  /** Only these providers, in this order. */
  providers?: readonly string[];
  fallback?: boolean | undefined;
  /** Another model, which is tried last. */
  fallbackModel?: string;
  deadlineMs?: number;
  survive?: boolean;
  hedge?: boolean;
}

/**
 * One text call of a client, and what the providers do with each of its requests, in order; they succeed if nothing is
 * listed.
 */
export interface CallPlan {
  id: number;
  key: string;
  dialect: ScriptedDialect;
  door: "contract" | "dropin";
  model: string;
  stream: boolean;
  /** Length of the response in words. */
  words: number;
  /** Filler characters after each word, for responses larger than a connection accepts at once. */
  padding: number;
  /** The model calls a tool after its text. */
  tool: boolean;
  /** Prompt tokens as the provider counts them, some of them cached. */
  input: number;
  cached: number;
  /** Output tokens as the provider counts them. */
  output: number;
  /** The response is to be stored, if the protocol supports it. */
  store?: boolean;
  /** The response is made in the background and polled. */
  background?: boolean;
  /** It continues a stored response of its key, if there is one. */
  builds?: boolean;
  routing: AskedRouting;
  reading: Reading;
  providers: readonly Behaviour[];
}

/**
 * What goes wrong with one request about a video. `taken_and_broken`: the job was accepted, but the response is lost.
 */
export const VIDEO_FAULTS = ["refused", "broken", "taken_and_broken", "busy", "garbage", "silent"] as const;
export type VideoFault = (typeof VIDEO_FAULTS)[number];

/**
 * One video: what its client requests, and what its host does with each request in turn; it succeeds if nothing is
 * listed.
 */
export interface VideoPlan {
  id: number;
  key: string;
  seconds: number;
  /** How long the host works on it. */
  takesMs: number;
  /** The host fails to make it. */
  fails: boolean;
  submits: readonly (VideoFault | "well")[];
  polls: readonly (VideoFault | "well")[];
  /** The client disconnects before the response, and submits again. */
  leavesAfterMs?: number;
  /** The client sends an Idempotency-Key and repeats unanswered requests. */
  isIdempotent: boolean;
}

/** Kinds of service calls, by the verb of their receipt. */
export const SERVICES = ["embeddings", "rerank", "speech", "transcriptions", "completions", "moderations"] as const;
export type ServiceWord = (typeof SERVICES)[number];

/** One service call, and what its hosts do with each of its requests in turn; they succeed if nothing is listed. */
export interface ServicePlan {
  id: number;
  key: string;
  service: ServiceWord;
  /** Inputs, documents, or words that are spoken, heard or written. */
  size: number;
  /** Number of events, if the service streams. */
  stream: boolean;
  routing: Pick<AskedRouting, "fallback" | "deadlineMs">;
  reading: Reading;
  providers: readonly Behaviour[];
}

/** One event from outside, at its time since the start. Steps are data, so a run can be reduced. */
export type Step =
  | { kind: "call"; atMs: number; call: CallPlan }
  | { kind: "video"; atMs: number; video: VideoPlan }
  | { kind: "service"; atMs: number; service: ServicePlan }
  | { kind: "store"; atMs: number; forMs: number; fault: StoreFault }
  | { kind: "kill"; atMs: number; downMs: number }
  | { kind: "outage"; atMs: number; forMs: number; provider: string; behaviour: Behaviour };

/** `loses`: statements take effect, but their confirmations are lost. */
export const STORE_FAULTS = ["fails", "hangs", "slow", "loses"] as const;
export type StoreFault = (typeof STORE_FAULTS)[number];

export interface Scenario {
  seed: number;
  steps: readonly Step[];
}
