import type { DialectName } from "../src/canon/dialect-name.ts";

/** What goes wrong with one request to a provider. */
export const FAULTS = [
  // No answer.
  "refused",
  "stale",
  "broken",
  "silent",
  // An answer that is a failure.
  "status",
  "error_in_200",
  // An answer that is none.
  "html",
  "garbage",
  // An answer that begins well. `at` says where it stops doing so.
  "cut",
  "stall",
  "error_event",
  "closed_early",
  "garbage_event",
] as const;
export type Fault = (typeof FAULTS)[number];

/** What a provider says of its usage. */
export type UsageTold = "true" | "none" | "zero" | "twice";

/** What a provider does about one request. */
export interface Behaviour {
  /** Until the head of its answer. */
  delayMs: number;
  /** Between two chunks. */
  gapMs: number;
  /** Events in one chunk; chunks of 0 events end in the middle of one. */
  eventsPerChunk: number;
  usage: UsageTold;
  /** Where it is asked to continue an answer; honestly where absent. */
  continues?: "from the start" | "with a repetition";
  fault?: Fault;
  /** For `status`. */
  status?: number;
  retryAfterSeconds?: number;
  /** For what begins well: after so many events. */
  at?: number;
}

/** What a client does with its answer. */
export interface Reading {
  /** It disconnects so long after it has sent its request. */
  leavesAfterMs?: number;
  /** It disconnects when it has read so many chunks. */
  leavesAfterChunks?: number;
  /** It stops reading for so long after its first chunk. */
  stallsMs?: number;
}

/** What a call asks of how it is served. */
export interface AskedRouting {
  type?: "priority" | "round_robin" | "least_latency";
  primaryFactor?: "cost" | "speed" | "quality";
  /** Only these, in this order. */
  providers?: readonly string[];
  fallback?: boolean;
  deadlineMs?: number;
  survive?: boolean;
  hedge?: boolean;
}

/** One call of a client for text, and what the providers do about it: for each of their requests in order, well where there is none. */
export interface CallPlan {
  id: number;
  key: string;
  dialect: DialectName;
  door: "contract" | "dropin";
  model: string;
  stream: boolean;
  /** How long the answer is. */
  words: number;
  /** Characters of filling behind each word, for answers that are larger than what a connection takes at once. */
  padding: number;
  /** The model calls a tool behind its text. */
  tool: boolean;
  /** Tokens that the prompt costs at a provider, some of them read from its cache. */
  input: number;
  cached: number;
  /** Tokens that the provider counts for its answer. */
  output: number;
  /** Its answer is to be kept, in a protocol that keeps some. */
  store?: boolean;
  /** Its answer is made in the background, and polled. */
  background?: boolean;
  /** It goes on from an answer of its key's that was kept, where there is one. */
  builds?: boolean;
  routing: AskedRouting;
  reading: Reading;
  providers: readonly Behaviour[];
}

/** What goes wrong with one request about a video. `taken_and_broken`: the job was accepted, and the answer is lost. */
export const VIDEO_FAULTS = ["refused", "broken", "taken_and_broken", "busy", "garbage", "silent"] as const;
export type VideoFault = (typeof VIDEO_FAULTS)[number];

/** One video: what its client asks for, and what its host does about each request in turn, well where there is none. */
export interface VideoPlan {
  id: number;
  key: string;
  seconds: number;
  /** How long the host works on it. */
  takesMs: number;
  /** The host does not make it. */
  fails: boolean;
  submits: readonly (VideoFault | "well")[];
  polls: readonly (VideoFault | "well")[];
  /** The client disconnects before it is answered, and asks again. */
  leavesAfterMs?: number;
  /** The client sends an Idempotency-Key, and repeats what was not answered. */
  isIdempotent: boolean;
}

/** What is asked of a model that is no conversation, by the verb of its receipt. */
export const SERVICES = ["embeddings", "rerank", "speech", "transcriptions", "completions", "moderations"] as const;
export type ServiceWord = (typeof SERVICES)[number];

/** One call of a service, and what its hosts do about each of its requests in turn, well where there is none. */
export interface ServicePlan {
  id: number;
  key: string;
  service: ServiceWord;
  /** Inputs, documents, or words that are spoken, heard or written. */
  size: number;
  /** Events, where the service has some. */
  stream: boolean;
  routing: Pick<AskedRouting, "fallback" | "deadlineMs">;
  reading: Reading;
  providers: readonly Behaviour[];
}

/** One thing that happens from outside, at its time since the start. Steps are data, so that a run can be cut down. */
export type Step =
  | { kind: "call"; atMs: number; call: CallPlan }
  | { kind: "video"; atMs: number; video: VideoPlan }
  | { kind: "service"; atMs: number; service: ServicePlan }
  | { kind: "store"; atMs: number; forMs: number; fault: StoreFault }
  | { kind: "kill"; atMs: number; downMs: number }
  | { kind: "outage"; atMs: number; forMs: number; provider: string; behaviour: Behaviour };

/** `loses`: statements take effect, and their confirmations do not arrive. */
export const STORE_FAULTS = ["fails", "hangs", "slow", "loses"] as const;
export type StoreFault = (typeof STORE_FAULTS)[number];

export interface Scenario {
  seed: number;
  steps: readonly Step[];
}
