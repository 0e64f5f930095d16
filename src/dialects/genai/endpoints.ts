import { GatewayError } from "../../canon/error.ts";
import type { Asks, DialectEndpoint, EndpointCall, EndpointRequest, PathParameters } from "../endpoint.ts";
import type { Door } from "../reading/check.ts";
import type { GenaiOptions } from "./options.ts";

/** The publisher that clients of the vendor omit, or put before any name without one. */
export const IMPLIED_PUBLISHER = "google";

/** The protocol's path roots at the two doors, including aliases (choices 1). */
export const ROOTS: readonly [Door, string][] = [
  ["contract", "/api/(?:genai|vertex-ai)"],
  ["dropin", ""],
];

/** `v1`, `v1alpha`, `v1beta` or `v1beta1`, and the project and location that some clients add. */
export const VERSION =
  "/(?:v1|v1alpha|v1beta|v1beta1)/(?:projects/(?<cloudProject>[^/]+)/locations/(?<location>[^/]+)/)?";
/** The three ways to name a model in a path. The verb follows the last colon. */
const MODEL = "(?:publishers/(?<publisher>[^/]+)/models/(?<name>.+)|models/(?<id>.+)|(?<bareId>[^/]+/.+))";

/** The path of a verb at both doors. */
export const verbPaths = (verb: string): [Door, RegExp][] =>
  ROOTS.map(([door, root]) => [door, new RegExp(`^${root}${VERSION}${MODEL}:${verb}$`)]);

/** The documented roots of the model paths at each door, and the suffix of operation ids there. */
export const DOCUMENTED_ROOTS: Readonly<Record<Door, readonly [root: string, suffix: string][]>> = {
  contract: [
    ["/api/genai/v1/publishers/{provider}/models/{model}", ""],
    ["/api/vertex-ai/v1/publishers/{provider}/models/{model}", "Alias"],
  ],
  dropin: [
    ["/v1/publishers/{provider}/models/{model}", "DropIn"],
    ["/v1beta/models/{provider}/{model}", "DropInBeta"],
  ],
};

const DOCUMENTED_LISTS: typeof DOCUMENTED_ROOTS = {
  contract: [
    ["/api/genai/v1beta/models", ""],
    ["/api/vertex-ai/v1beta/models", "Alias"],
  ],
  dropin: [["/v1beta/models", "DropIn"]],
};

type Documented = Readonly<Record<string, string>>;

/** `documented`: the operation ids by the path after the root. */
const pathsOf = (
  asks: Asks,
  paths: readonly [Door, RegExp][],
  roots: typeof DOCUMENTED_ROOTS,
  documented: Documented,
): DialectEndpoint[] =>
  paths.map(([door, path]) => ({
    door,
    path,
    asks,
    documented: Object.entries(documented).flatMap(([rest, operation]) =>
      roots[door].map(([root, suffix]) => ({ operation, path: `${root}${rest}`, suffix })),
    ),
  }));
const listPaths = (rest: string): [Door, RegExp][] =>
  ROOTS.map(([door, root]) => [door, new RegExp(`^${root}${VERSION}(?:${rest})$`)]);

export const endpoints: readonly DialectEndpoint[] = [
  ...pathsOf("count_tokens", verbPaths("countTokens"), DOCUMENTED_ROOTS, { ":countTokens": "countContentTokens" }),
  ...pathsOf("generate", verbPaths("(?<verb>[A-Za-z]+)"), DOCUMENTED_ROOTS, {
    ":generateContent": "generateContent",
    ":streamGenerateContent": "streamGenerateContent",
  }),
  ...pathsOf("list_models", listPaths("models|publishers/google/models"), DOCUMENTED_LISTS, { "": "listGenaiModels" }),
  ...pathsOf(
    "show_model",
    listPaths("publishers/(?<publisher>[^/]+)/models/(?<name>.+)|models/(?<id>.+)"),
    DOCUMENTED_LISTS,
    { "/{provider}/{model}": "getGenaiModel" },
  ),
];

const STREAM_VERB = "streamGenerateContent";
const GENERATE_VERBS = new Set(["generateContent", STREAM_VERB]);

export function readCall(asks: Asks, request: EndpointRequest): EndpointCall {
  const { parameters, query } = request;
  const verb = parameters["verb"] ?? "";
  if (asks === "generate" && !GENERATE_VERBS.has(verb)) throw unknownVerb(verb);
  const stream = verb === STREAM_VERB;
  const options: GenaiOptions = {
    bareFinishReason: readsVendorSpelling(request),
    // The contract's streams are always events (contract 6).
    arrayFraming: stream && request.door === "dropin" && query.get("alt") !== "sse",
  };
  return { model: modelInPath(parameters), stream, options };
}

/** Every verb that may follow a model in a path. */
export const VERBS: readonly string[] = [
  ...GENERATE_VERBS,
  "countTokens",
  "batchGenerateContent",
  "embedContent",
  "batchEmbedContents",
  "predict",
  "predictLongRunning",
  "fetchPredictOperation",
];

/** Verbs of the vendor for which the gateway has no endpoint yet, and what does the same. */
const MISSING_VERBS: ReadonlyMap<string, string> = new Map([
  ["batchGenerateContent", "Batches are only served at the compatible base URL; use generateContent here."],
  ["asyncBatchEmbedContent", "Batches of embeddings are not supported; use batchEmbedContents."],
  ["cancel", "Batches are only served at the compatible base URL; there is nothing to cancel here."],
  ["register", "Files of a storage bucket cannot be registered; upload them, or use base64 data in the request."],
  ["importFile", "The File search stores API is not supported."],
  ["computeTokens", "Lists of tokens are not supported; use countTokens for their number."],
]);

function unknownVerb(verb: string): GatewayError {
  const missing = MISSING_VERBS.get(verb);
  if (missing !== undefined) return new GatewayError("not_found", missing, { code: "unknown_verb" });
  return new GatewayError("not_found", `Unknown verb "${verb}". Use one of ${VERBS.join(", ")}.`, {
    code: "unknown_verb",
  });
}

/** A name without a publisher is the vendor's, whose SDK omits it. */
export function modelInPath({ publisher, name, id, bareId }: PathParameters): string {
  if (publisher !== undefined && name !== undefined) return `${publisher}/${name}`;
  const found = id ?? bareId ?? "";
  return found.includes("/") ? found : `${IMPLIED_PUBLISHER}/${found}`;
}

/**
 * Clients that send their key in the vendor's header, identify as the vendor's SDK, or use the drop-in door read `STOP`; the
 * contract's clients read `FINISH_REASON_STOP` (choices 3).
 */
const readsVendorSpelling = ({ headers, door, keyHeader }: EndpointRequest): boolean =>
  door === "dropin" || headers.has("x-goog-api-client") || keyHeader() === "x-goog-api-key";
