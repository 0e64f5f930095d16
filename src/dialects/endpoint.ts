import type { Door } from "./reading/check.ts";

/** The headers that may carry a key, in any dialect. */
export type KeyHeader = "authorization" | "x-api-key" | "x-goog-api-key";

/** What clients request at an endpoint. */
export type Asks = "generate" | "count_tokens" | "list_models" | "show_model" | StoredAsks;

/** What they request of a stored response: the response, its input, its deletion, or its cancellation. */
export type StoredAsks = "show_answer" | "list_input" | "delete_answer" | "cancel_answer";

/** A path of the OpenAPI document. The suffix distinguishes operation ids at several paths. */
export interface DocumentedPath {
  path: string;
  suffix: string;
}

/**
 * An endpoint of a dialect at the gateway. Calls are POST requests, lists are GET; the parameter `id` names a stored response.
 */
export interface DialectEndpoint {
  door: Door;
  /** A literal path, or a pattern over the percent-decoded path whose named groups become parameters. */
  path: string | RegExp;
  asks: Asks;
  /** Clients of other dialects use it too; a version header distinguishes them (choices 1). */
  shared?: boolean;
  /** The paths of the OpenAPI document that it serves, each with its operation id. */
  documented?: readonly (DocumentedPath & { operation: string })[];
}

export type PathParameters = Readonly<Record<string, string>>;

/** A request that was matched to an endpoint, without its body. */
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
  /** Absent if the body names the model. */
  model?: string;
  /** Absent if the body says whether to stream. */
  stream?: boolean;
  /** Only the dialect knows what it contains. */
  options: unknown;
}
