import type { Door } from "./reading/check.ts";

/** The headers that may carry a key, whatever the dialect. */
export type KeyHeader = "authorization" | "x-api-key" | "x-goog-api-key";

/** What clients ask for at an endpoint. */
export type Asks = "generate" | "count_tokens" | "list_models" | "show_model" | StoredAsks;

/** What they ask of an answer that is kept: to see it, what it was made from, to delete it, or to end its making. */
export type StoredAsks = "show_answer" | "list_input" | "delete_answer" | "cancel_answer";

/** A path of the OpenAPI document. Its suffix tells the operation's ids at several paths apart. */
export interface DocumentedPath {
  path: string;
  suffix: string;
}

/** One endpoint of a dialect at the gateway. Calls are POST requests, lists GET; an answer that is kept is named by the parameter `id`. */
export interface Endpoint {
  door: Door;
  /** A literal path, or a pattern over the percent-decoded path whose named groups become parameters. */
  path: string | RegExp;
  asks: Asks;
  /** Clients of other dialects ask here too; a version header tells them apart (choices 1). */
  shared?: boolean;
  /** The paths of the OpenAPI document that it serves, each with the id of the operation. */
  documented?: readonly (DocumentedPath & { operation: string })[];
}

export type PathParameters = Readonly<Record<string, string>>;

/** A request that has found its endpoint, all but its body. */
export interface EndpointRequest {
  headers: Headers;
  query: URLSearchParams;
  parameters: PathParameters;
  door: Door;
  /** The header whose key counts. */
  keyHeader: () => KeyHeader | undefined;
}

/** What the URL and the headers of a call say. */
export interface EndpointCall {
  /** Absent where the body names the model. */
  model?: string;
  /** Absent where the body says whether to stream. */
  stream?: boolean;
  /** What only the dialect understands. */
  options: unknown;
}
