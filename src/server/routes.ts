import type { Door } from "../dialects/check.ts";
import { sendFile } from "./files.ts";
import { sendHealth, sendReadiness } from "./health.ts";
import { editImages, fetchOperation, generateImages, predictImages, submitVideos } from "./media-calls.ts";
import { listModels, showModel } from "./model-lists.ts";
import { sendOpenApi } from "./openapi-page.ts";
import { showReceipt } from "./receipts.ts";
import { sendRoot } from "./root-page.ts";
import type { Method, Route } from "./route-table.ts";
import type { Handler } from "./routed-request.ts";
import {
  countGenaiTokens,
  countMessageTokens,
  createChatCompletion,
  createMessage,
  generateContent,
} from "./text-calls.ts";

/** The roots of each protocol at the two doors, aliases included (choices 1). */
const CHAT: [Door, string][] = [
  ["contract", "/api/v1"],
  ["dropin", "/v1"],
];
const MESSAGES: [Door, string][] = [
  ["contract", "/api/msg/v1"],
  ["contract", "/api/anthropic/v1"],
  ["dropin", "/v1"],
];
const GENAI: [Door, string][] = [
  ["contract", "/api/(?:genai|vertex-ai)"],
  ["dropin", ""],
];

/** `v1`, `v1beta` or `v1beta1`, and the project and location that some clients put before the rest. */
const GENAI_VERSION = "/(?:v1|v1beta|v1beta1)/(?:projects/[^/]+/locations/[^/]+/)?";
/** The three ways to name a model in an address; the verb follows the last colon. */
const GENAI_MODEL = "(?:publishers/(?<publisher>[^/]+)/models/(?<name>.+)|models/(?<id>.+)|(?<bareId>[^/]+/.+))";

function route(dialect: Route<Handler>["dialect"], access: Route<Handler>["access"]) {
  return (method: Method, door: Door, path: string | RegExp, handle: Handler): Route<Handler> => {
    return { method, path, access, dialect, door, handle };
  };
}
const chat = route("chat", "key");
const messages = route("messages", "key");
const genai = route("genai", "key");
const signed = route("chat", "signed");
const open = { chat: route("chat", "open"), messages: route("messages", "open"), genai: route("genai", "open") };

/** Every address of the gateway. What is not here does not exist. */
export const ROUTES: readonly Route<Handler>[] = [
  ...CHAT.flatMap(([door, root]) => [
    chat("POST", door, `${root}/chat/completions`, createChatCompletion),
    chat("POST", door, `${root}/images/generations`, generateImages),
    chat("POST", door, `${root}/images/edits`, editImages),
    open.chat("GET", door, `${root}/models`, listModels),
    open.chat("GET", door, new RegExp(`^${root}/models/(?<id>.+)$`), showModel),
    chat("GET", door, `${root}/generation`, showReceipt),
  ]),
  ...MESSAGES.flatMap(([door, root]) => [
    messages("POST", door, `${root}/messages`, createMessage),
    messages("POST", door, `${root}/messages/count_tokens`, countMessageTokens),
    ...(door === "contract"
      ? [
          open.messages("GET", door, `${root}/models`, listModels),
          open.messages("GET", door, new RegExp(`^${root}/models/(?<id>.+)$`), showModel),
        ]
      : []),
  ]),
  ...GENAI.flatMap(([door, root]) => {
    const start = `^${root}${GENAI_VERSION}`;
    return [
      genai("POST", door, new RegExp(`${start}${GENAI_MODEL}:countTokens$`), countGenaiTokens),
      genai("POST", door, new RegExp(`${start}${GENAI_MODEL}:predict$`), predictImages),
      genai("POST", door, new RegExp(`${start}${GENAI_MODEL}:predictLongRunning$`), submitVideos),
      genai("POST", door, new RegExp(`${start}${GENAI_MODEL}:fetchPredictOperation$`), fetchOperation),
      genai("POST", door, new RegExp(`${start}${GENAI_MODEL}:(?<verb>[A-Za-z]+)$`), generateContent),
      open.genai("GET", door, new RegExp(`${start}(?:models|publishers/google/models)$`), listModels),
      open.genai(
        "GET",
        door,
        new RegExp(`${start}(?:publishers/(?<publisher>[^/]+)/models/(?<name>.+)|models/(?<id>.+))$`),
        showModel,
      ),
    ];
  }),
  // Whoever fetches a file shows a signed address or a key of its project, which the handler asks for.
  ...(["GET", "HEAD"] as const).map((method) => signed(method, "contract", /^\/files\/(?<id>[^/]+)$/, sendFile)),
  ...(["GET", "HEAD"] as const).flatMap((method) => [
    open.chat(method, "contract", "/", sendRoot),
    open.chat(method, "contract", "/healthz", sendHealth),
    open.chat(method, "contract", "/readyz", sendReadiness),
  ]),
  open.chat("GET", "contract", "/openapi.json", sendOpenApi),
];
