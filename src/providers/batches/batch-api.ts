import type { ApiHosts, MediaAnswer, MediaRequest } from "../../media/adapter.ts";

/** The provider as its batch API is called. */
export interface BatchHost {
  /** Throws a GatewayError unless the status is 2xx. */
  ask(request: MediaRequest): Promise<MediaAnswer>;
  /** The lines of a response, as they arrive. */
  lines(request: MediaRequest): AsyncIterable<string>;
}

/** The requests of a batch, and how it is recognised. */
export interface SubmittedBatch {
  /** Unique for each submission; part of the ids of its lines. */
  readonly marker: string;
  /** The provider's name of the model. */
  readonly model: string;
  /** Where the lines are sent, as `endpoints` names it. */
  readonly endpoint: string;
  /** Headers that all lines share. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each as `line` wrote it. */
  readonly lines: readonly Uint8Array[];
}

/** A submission whose outcome is not known, because the response to it was lost. */
export interface LostBatch extends Pick<SubmittedBatch, "marker" | "headers"> {
  /** How many lines it has. */
  readonly count: number;
  /** When it was sent, by the gateway's clock. */
  readonly sentAtMs: number;
  /** Whether the gateway knows a batch as another one. */
  isOther(id: string): Promise<boolean>;
}

export type BatchProgress =
  | { readonly state: "running" }
  /** It did not run. */
  | { readonly state: "failed"; readonly reasons: readonly string[] }
  /** No line will change any more. */
  | { readonly state: "ended"; readonly how: "completed" | "cancelled" | "expired"; readonly results: BatchResults };

/** Where the results are: names of files, or whatever the API needs to read them. */
export type BatchResults = readonly unknown[];

/** What became of one line. */
export interface BatchResult {
  /** As `line` was given it; undefined if the result names none. */
  readonly id: string | undefined;
  /** A response has a status and a body of the dialect in which the line was written. */
  readonly outcome:
    | { readonly type: "response"; readonly status: number; readonly body: string }
    | { readonly type: "cancelled" | "expired" };
}

/** A vendor's batch API. It keeps no state: whatever must survive a restart is in what it returns. */
export interface BatchApi extends ApiHosts {
  /** What its lines can be, a dialect or a service, each with the name of the endpoint. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Headers of calls that a batch can have only once, for all of its lines. */
  readonly sharedHeaders: readonly string[];
  readonly maxLines: number;
  readonly maxBytes: number;
  /** One request. `body` is JSON. */
  line(id: string, body: string, endpoint: string): string;
  /** Returns the provider's id. Calls `beforeCreation` right before the request that may be billed. */
  submit(host: BatchHost, batch: SubmittedBatch, beforeCreation: () => Promise<void>): Promise<string>;
  /** Finds a batch by its marker. `unclear`: one that still runs may be it. */
  find(host: BatchHost, batch: LostBatch): Promise<{ id: string } | "unclear" | undefined>;
  poll(host: BatchHost, id: string): Promise<BatchProgress>;
  cancel(host: BatchHost, id: string): Promise<void>;
  results(host: BatchHost, results: BatchResults): AsyncIterable<BatchResult>;
}
