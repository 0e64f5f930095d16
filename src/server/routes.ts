import { CHAT_ROOTS } from "../dialects/chat/endpoints.ts";
import type { Door } from "../dialects/check.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Endpoint } from "../dialects/endpoint.ts";
import { verbPaths } from "../dialects/genai/endpoints.ts";
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
function endpointRoute({ name }: Dialect, { door, path, asks, shared = false }: Endpoint): Route<Handler> {
  switch (asks) {
    case "generate":
    case "count_tokens":
      return route(name, "key")("POST", door, path, relayCall(asks));
    case "list_models":
      return { ...route(name, "open")("GET", door, path, listModels), shared };
    case "show_model":
      return { ...route(name, "open")("GET", door, path, showModel), shared };
    case "show_answer":
    case "list_input":
      return route(name, "key")("GET", door, path, storedAnswer(asks));
    case "delete_answer":
      return route(name, "key")("DELETE", door, path, storedAnswer(asks));
    case "cancel_answer":
      return route(name, "key")("POST", door, path, storedAnswer(asks));
  }
}

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
  ...(["GET", "HEAD"] as const).map((method) => signed(method, "contract", /^\/files\/(?<id>[^/]+)$/, sendFile)),
  ...(["GET", "HEAD"] as const).flatMap((method) => [
    open(method, "contract", "/", sendRoot),
    open(method, "contract", "/healthz", sendHealth),
    open(method, "contract", "/readyz", sendReadiness),
  ]),
  open("GET", "contract", "/openapi.json", sendOpenApi),
];

/** Every endpoint of a gateway that speaks these dialects. No other endpoint exists. */
export const routesOf = ({ clients }: DialectRegistry): Route<Handler>[] => [
  ...OWN_ROUTES,
  ...clients.flatMap((dialect) => dialect.http.endpoints.map((endpoint) => endpointRoute(dialect, endpoint))),
];

export const ROUTES: readonly Route<Handler>[] = routesOf(BUILT_IN_DIALECTS);
