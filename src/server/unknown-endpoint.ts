import { GatewayError } from "../canon/error.ts";
import type { Route, RouteTable } from "./route-table.ts";

/** Vendor APIs that clients may look for and that are not supported, by a part of their path. */
const NOT_SUPPORTED: readonly [pattern: RegExp, name: string, instead: string | undefined][] = [
  [/\/audio\/voice/, "Voices", undefined],
  [/\/realtime\/(sessions|transcription_sessions)$/, "Realtime beta", "POST /v1/realtime/client_secrets"],
  [/\/realtime\/(calls|translations)(\/|$)/, "Realtime calls", "GET /v1/realtime over a WebSocket"],
  [/\/(assistants|threads)(\/|$)/, "Assistants", "POST /v1/chat/completions"],
  [/\/batchPredictionJobs(\/|$)/, "Batch prediction", "POST /v1beta/models/{model}:batchGenerateContent"],
  [/\/v1\/complete$/, "legacy text completion", "POST /v1/messages"],
  [/\/images\/variations$/, "image variations", "POST /v1/images/edits"],
  [/\/videos\/characters(\/|$)/, "video characters", "input_reference of POST /v1/videos"],
  [/\/(fine_tuning|fine-tunes|tunedModels|tuningJobs)([:/]|$)/, "Fine-tuning", undefined],
  [/\/vector_stores(\/|$)/, "Vector stores", undefined],
  [/\/fileSearchStores(\/|$)/, "File search stores", undefined],
  [/\/containers(\/|$)/, "Containers", undefined],
  [/\/skills(\/|$)/, "Skills", undefined],
  [
    /\/v1\/(agents|sessions|environments|deployments|deployment_runs|dreams|memory_stores|tunnels|vaults)(\/|$)/,
    "Agents",
    "POST /v1/messages",
  ],
  [/\/v1\/user_profiles(\/|$)/, "User profiles", undefined],
  [/\/v1\/organizations(\/|$)/, "Organizations", undefined],
  [/\/evals(\/|$)/, "Evals", undefined],
  [/\/auth_tokens$/, "Ephemeral tokens", undefined],
];

/** Where Google's SDKs open WebSockets. The gateway has one service there. */
const WEB_SOCKETS = /^\/+(?:api\/genai\/+|api\/vertex-ai\/+)?ws\//;
const GEMINI_LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

const missingApi = (path: string) => NOT_SUPPORTED.find(([pattern]) => pattern.test(path));

/** The end of a path, after the client's base URL. */
const ENDINGS =
  /(\/(?:chat\/)?completions|\/audio\/(?:speech|transcriptions|translations)|\/moderations|\/responses(?:\/(?:input_tokens|compact))?|\/interactions|\/messages(?:\/count_tokens)?|\/images\/(?:generations|edits)|\/embeddings|\/rerank|\/videos|\/generation|\/models(?:\/.+)?)$/;

const MAX_SHOWN_LENGTH = 200;

/**
 * The error for an unknown path, with the endpoint that was probably meant. `publicUrl` is the gateway's address for
 * clients.
 */
export function unknownEndpoint<H>(
  method: string,
  path: string,
  {
    table,
    routes,
    publicUrl,
    upgrade,
  }: { table: RouteTable<H>; routes: readonly Route<H>[]; publicUrl: string; upgrade: string | null },
): GatewayError {
  const shown = path.slice(0, MAX_SHOWN_LENGTH);
  // An unsupported path may look like an id below a supported one.
  const methods = missingApi(path) === undefined ? table.methodsOf(path) : [];
  if (methods.length > 0) {
    const isSocket = upgrade?.toLowerCase() === "websocket";
    const message = isSocket
      ? `WebSocket connections are not supported at ${shown}. Use ${methods.join(" or ")} ${shown} instead.`
      : `${shown} takes ${methods.join(" or ")}, not ${method}.`;
    return new GatewayError("method_not_allowed", message);
  }
  const message = `Unknown endpoint ${method} ${shown}. ${advice(method, path, table, routes, publicUrl)}`;
  return new GatewayError("not_found", message, { code: "unknown_address" });
}

function advice<H>(
  method: string,
  path: string,
  table: RouteTable<H>,
  routes: readonly Route<H>[],
  publicUrl: string,
): string {
  if (routes.some(({ access }) => access === "admin")) {
    return "This is the Admin API: GET /openapi.json lists its endpoints. Call models at the gateway's other port.";
  }
  // An endpoint below another API may end like one of the gateway's.
  const missing = missingApi(path);
  if (missing === undefined && WEB_SOCKETS.test(path)) return `Gemini Live is at ${GEMINI_LIVE}.`;
  const near = missing !== undefined || path.length > MAX_SHOWN_LENGTH ? undefined : nearPath(method, path, table);
  if (near !== undefined) return `Did you mean ${method} ${near}?`;
  if (missing !== undefined) {
    const [, name, instead] = missing;
    return `The ${name} API is not supported${instead === undefined ? "." : ` yet; use ${instead}.`}`;
  }
  return `Base URLs: ${publicUrl}/v1 for OpenAI clients, ${publicUrl} for Anthropic and Google clients. GET /openapi.json lists all endpoints.`;
}

/** The intended endpoint for a base URL with an extra slash, an extra version, or none. */
function nearPath<H>(method: string, path: string, table: RouteTable<H>): string | undefined {
  const tidy = path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
  const once = tidy.replace(/(\/api)?(\/v1(?:beta)?)(?:\/v1(?:beta)?)+(?=\/)/, "$1$2").replace(/^\/v1\/api\//, "/api/");
  const ending = ENDINGS.exec(once)?.[1];
  const verb = /(?:^|\/)(?:models\/)?([^/:]+(?:\/[^/:]+)?:[A-Za-z]+)$/.exec(once)?.[1];
  const candidates = [
    tidy,
    once,
    ...(verb === undefined ? [] : [`/v1beta/models/${verb}`]),
    ...(ending === undefined ? [] : [`${once.startsWith("/api") ? "/api" : ""}/v1${ending}`, `/v1${ending}`]),
  ];
  return candidates.find((candidate) => candidate !== path && table.find(method, candidate) !== undefined);
}
