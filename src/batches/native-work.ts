import type { GatewayError } from "../canon/error.ts";
import type { LineResult } from "../storage/tables/batch-lines.ts";
import type { BatchTerms } from "../storage/tables/batches.ts";
import type { NativeBatch } from "../storage/tables/native-batches.ts";
import type { StoredObject } from "../storage/tables/objects.ts";

/** How batches are run: `auto` uses a provider's batch API where it can. */
export type BatchMode = "auto" | "own" | "native";

/** A batch and its owner. */
export type OwnedBatch = BatchTerms & Pick<StoredObject, "project" | "keyId" | "metadata">;

/** To whom a batch is billed. A subject of tokens may have several projects. */
export type BatchPayer = Pick<OwnedBatch, "keyId" | "project">;

/** A line with the batch that it belongs to. */
export interface NativeLine {
  batch: OwnedBatch;
  customId: string;
  line: number;
  text: string;
  /** The body of its request as the provider was sent it, where guards have changed it. */
  sent?: string | undefined;
}

/** The request of a line as a provider's batch API is sent it. */
export interface PreparedRequest extends Pick<NativeBatch, "target" | "provider" | "credential" | "headers"> {
  body: string;
  /** The client's body as guards have left it; undefined if they have not changed it. */
  left: string | undefined;
}

/** A response that a batch API returned for a line. */
export interface NativeResponse {
  status: number;
  body: string;
}

export interface NativeResult {
  /** The id under which the line was submitted. */
  id: string | undefined;
  outcome: ({ type: "response" } & NativeResponse) | { type: "cancelled" | "expired" };
}

/** The state of a batch at its provider. */
export type NativeProgress =
  | { state: "running" }
  | { state: "failed"; reasons: readonly string[] }
  | { state: "ended"; how: "completed" | "cancelled" | "expired"; results: readonly unknown[] };

/** What the gateway does with lines that a provider's batch API runs. */
export interface NativeLines {
  /** False if the key was revoked or its project suspended. */
  mayRun(batch: BatchPayer): Promise<boolean>;
  /**
   * Prepares the request of a line for a target, or for the one that it would go to; a trial is not sent, and no guard sees it. `refused`: as an ordinary call it fails by itself.
   * `unfit`: the batch cannot be run by the batch API.
   */
  prepare(
    line: NativeLine,
    target: string | undefined,
    isTrial?: boolean,
  ): Promise<PreparedRequest | { refused: true } | { unfit: string }>;
  /**
   * Turns the provider's response into the client's, and bills it. If there is none, the line fails. Throws if the target is not
   * configured any more.
   */
  settle(line: NativeLine, target: string, response: NativeResponse | undefined): Promise<LineResult>;
}

/** The batch APIs of providers. They throw a GatewayError that a client may read. */
export interface NativeJobs {
  /** Whether any provider has a batch API. */
  hasAny(): boolean;
  /** Whether the credential that a batch belongs to is configured. No other can see it. */
  isConfigured(batch: NativeBatch): boolean;
  limitsOf(target: string): { maxLines: number; maxBytes: number };
  /** Throws if the batch price is unknown and the key may not use what has no price. */
  requirePrice(target: string, batch: BatchPayer): void;
  /** One line of the input, under the id by which its result is recognised. */
  line(target: string, id: string, body: string): string;
  /** Returns the provider's id. Calls `beforeCreation` before the request that may be billed. */
  submit(batch: NativeBatch, lines: readonly Uint8Array[], beforeCreation: () => Promise<void>): Promise<string>;
  /** Finds a batch whose creation was not confirmed. `unclear`: it cannot be known yet. */
  find(batch: NativeBatch): Promise<{ id: string } | "unclear" | undefined>;
  poll(batch: NativeBatch): Promise<NativeProgress>;
  cancel(batch: NativeBatch): Promise<void>;
  results(batch: NativeBatch, progress: Extract<NativeProgress, { state: "ended" }>): AsyncIterable<NativeResult>;
  /** Whether the provider may have done what was asked although it failed. */
  isUncertain(error: GatewayError): boolean;
}
