import { CHAT_ROOTS } from "../dialects/chat/endpoints.ts";
import type { Door } from "../dialects/check.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Endpoint } from "../dialects/endpoint.ts";
import { VERBS, verbPaths } from "../dialects/genai/endpoints.ts";
import { BUILT_IN_DIALECTS } from "../dialects/index.ts";
import type { DialectRegistry } from "../dialects/registry.ts";
import { createChildKey, listChildKeys, revokeChildKey, showChildKey } from "./child-keys.ts";
import { sendFile } from "./files.ts";
import { sendHealth, sendReadiness } from "./health.ts";
import { editImages, fetchOperation, generateImages, submitVideos } from "./media-calls.ts";
import { listModels, showModel } from "./model-lists.ts";
import { sendOpenApi } from "./openapi-page.ts";
import { showReceipt } from "./receipts.ts";
import { RERANK_ERRORS } from "./rerank-errors.ts";
import { sendRoot } from "./root-page.ts";
import type { Method, Route } from "./route-table.ts";
import type { Handler } from "./routed-request.ts";
import {
  batchEmbedContents,
  compact,
  complete,
  embedContent,
  embedInputs,
  moderate,
  predict,
  rerankDocuments,
  speak,
  transcribe,
  translate,
} from "./service-calls.ts";
import { storedAnswer } from "./stored-answers.ts";
import { relayCall } from "./text-calls.ts";

function route(dialect: string, access: Route<Handler>["access"]) {
  return (method: Method, door: Door, path: string | RegExp, handle: Handler): Route<Handler> => {
    return { method, path, access, dialect, door, handle };
  };
}
const chat = route("chat", "key");
const genai = route("genai", "key");
const responses = route("responses", "key");
const open = route("chat", "open");
const signed = route("chat", "signed");

/** An endpoint that a dialect has declared. */
function endpointRoutes({ name }: Dialect, { door, path, asks, shared = false }: Endpoint): Route<Handler>[] {
  const keyed = route(name, "key");
  switch (asks) {
    case "generate":
    case "count_tokens":
      return [keyed("POST", door, path, relayCall(asks))];
    case "list_models":
      return READS.map((method) => ({ ...route(name, "open")(method, door, path, listModels), shared }));
    case "show_model":
      return READS.map((method) => ({ ...route(name, "open")(method, door, withoutVerb(path), showModel), shared }));
    case "show_answer":
    case "list_input":
      return [keyed("GET", door, path, storedAnswer(asks))];
    case "delete_answer":
      return [keyed("DELETE", door, path, storedAnswer(asks))];
    case "cancel_answer":
      return [keyed("POST", door, path, storedAnswer(asks))];
  }
}

/** The runtime leaves the body of an answer to HEAD out. */
const READS = ["GET", "HEAD"] as const;

/** The path of a model's entry. A provider may follow its id after a colon. A verb may not: such a path takes POST alone. */
const withoutVerb = (path: string | RegExp): string | RegExp =>
  typeof path === "string" ? path : new RegExp(`^(?!.*:(?:${VERBS.join("|")})$)${path.source.slice(1)}`);

/** Images, videos and receipts belong to the protocols that have them; the rest is the gateway's own. */
const OWN_ROUTES: readonly Route<Handler>[] = [
  ...CHAT_ROOTS.flatMap(([door, root]) => [
    chat("POST", door, `${root}/images/generations`, generateImages),
    chat("POST", door, `${root}/images/edits`, editImages),
    chat("POST", door, `${root}/embeddings`, embedInputs),
    { ...chat("POST", door, `${root}/rerank`, rerankDocuments), errors: RERANK_ERRORS },
    chat("POST", door, `${root}/audio/speech`, speak),
    chat("POST", door, `${root}/audio/transcriptions`, transcribe),
    chat("POST", door, `${root}/audio/translations`, translate),
    chat("POST", door, `${root}/moderations`, moderate),
    chat("POST", door, `${root}/completions`, complete),
    responses("POST", door, `${root}/responses/compact`, compact),
    chat("GET", door, `${root}/generation`, showReceipt),
  ]),
  // Where clients of the later version of that API send it.
  { ...chat("POST", "dropin", "/v2/rerank", rerankDocuments), errors: RERANK_ERRORS },
  ...verbPaths("embedContent").map(([door, path]) => genai("POST", door, path, embedContent)),
  ...verbPaths("batchEmbedContents").map(([door, path]) => genai("POST", door, path, batchEmbedContents)),
  ...verbPaths("predict").map(([door, path]) => genai("POST", door, path, predict)),
  ...verbPaths("predictLongRunning").map(([door, path]) => genai("POST", door, path, submitVideos)),
  ...verbPaths("fetchPredictOperation").map(([door, path]) => genai("POST", door, path, fetchOperation)),
  chat("POST", "contract", "/api/v1/keys", createChildKey),
  chat("GET", "contract", "/api/v1/keys", listChildKeys),
  chat("GET", "contract", /^\/api\/v1\/keys\/(?<id>[^/]+)$/, showChildKey),
  chat("DELETE", "contract", /^\/api\/v1\/keys\/(?<id>[^/]+)$/, revokeChildKey),
  // A client that fetches a file shows a signed URL or a key of its project, which the handler checks.
  ...READS.map((method) => signed(method, "contract", /^\/files\/(?<id>[^/]+)$/, sendFile)),
  ...READS.flatMap((method) => [
    open(method, "contract", "/", sendRoot),
    open(method, "contract", "/healthz", sendHealth),
    open(method, "contract", "/readyz", sendReadiness),
    open(method, "contract", "/openapi.json", sendOpenApi),
  ]),
];

/** Every endpoint of a gateway that speaks these dialects. No other endpoint exists. */
export const routesOf = ({ clients }: DialectRegistry): Route<Handler>[] => [
  ...OWN_ROUTES,
  ...clients.flatMap((dialect) => dialect.http.endpoints.flatMap((endpoint) => endpointRoutes(dialect, endpoint))),
];

export const ROUTES: readonly Route<Handler>[] = routesOf(BUILT_IN_DIALECTS);
