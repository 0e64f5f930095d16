import { MAX_TAGS, TAG_PATTERN } from "../../canon/tags.ts";
import { MAX_DEADLINE_MS } from "../../dialects/reading/routing-schema.ts";

const TAG = TAG_PATTERN.slice(1, -1);

const header = (name: string, description: string, schema: object = { type: "string" }) => ({
  name,
  in: "header",
  description,
  schema,
});

const inPath = (name: string, description: string) => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string" },
});

const inQuery = (name: string, description: string) => ({ name, in: "query", description, schema: { type: "string" } });

/** Of a path that names a model. */
export const MODEL_IN_PATH = ["provider", "model"];

/** Of every call to a model. */
export const CALL_HEADERS = [
  "x-trivium-strict",
  "x-trivium-routing",
  "x-trivium-survive",
  "x-trivium-hedge",
  "x-trivium-deadline-ms",
  "x-trivium-tags",
  "x-trivium-cache",
];

/** Of a request for videos, whose job continues after the response. */
export const JOB_HEADERS = ["x-trivium-strict", "x-trivium-routing", "x-trivium-tags"];

/** Of a request for images, which is not a stream of text. */
export const IMAGE_HEADERS = [...JOB_HEADERS, "x-trivium-deadline-ms"];

export const PARAMETERS = {
  provider: inPath("provider", "The part of the model's id before the slash."),
  model: inPath("model", "The part of the model's id after the slash."),
  alt: {
    name: "alt",
    in: "query",
    description:
      "`sse` for server-sent events. At the compatible base URL the response is one JSON array without it; at the strict one it is always events.",
    schema: { type: "string", enum: ["sse", "json"] },
  },
  "receipt-id": {
    name: "id",
    in: "query",
    required: true,
    description: "The value of the header x-trivium-receipt of a response.",
    schema: { type: "string" },
  },
  "uploaded-file-id": inPath("id", "The id of an uploaded file, in the form of any protocol."),
  "upload-id": inPath("id", "The id of an upload."),
  "batch-id": inPath("id", "The id of a batch."),
  "conversation-id": inPath("id", "The id of a conversation of this project."),
  "item-id": inPath("item", "The id of an item of the conversation."),
  "completion-id": inPath("id", "The id of a stored chat completion of this project."),
  "completion-order": {
    name: "order",
    in: "query",
    description: "Default: `asc`, oldest first.",
    schema: { type: "string", enum: ["asc", "desc"] },
  },
  "completion-model": inQuery("model", "Only completions of this model, as their responses name it."),
  "completion-metadata": {
    name: "metadata",
    in: "query",
    description: "Only completions with these pairs: `metadata[name]=value`.",
    style: "deepObject",
    schema: { type: "object", additionalProperties: { type: "string" } },
  },
  "cache-id": inPath("id", "The id of a cache."),
  "response-id": inPath("id", "The id of a stored response of this project."),
  "video-id": inPath("id", "The id of a video of this project."),
  "after-video": inQuery("after", "The last id of the previous page."),
  "video-order": {
    name: "order",
    in: "query",
    description: "By time of creation. Default: `desc`.",
    schema: { type: "string", enum: ["asc", "desc"] },
  },
  "video-variant": {
    name: "variant",
    in: "query",
    description: "Only `video` is stored.",
    schema: { type: "string", enum: ["video"] },
  },
  "operation-id": inPath("operation", "The last part of the operation's name."),
  "interaction-id": inPath("id", "The id of a stored interaction of this project."),
  include_input: {
    name: "include_input",
    in: "query",
    description: "Whether to include the steps of the request.",
    schema: { type: "boolean" },
  },
  "key-id": inPath("id", "The id of a child key of this key."),
  limit: {
    name: "limit",
    in: "query",
    description: "Maximum number of items. Default: 20.",
    schema: { type: "integer", minimum: 1, maximum: 100 },
  },
  "models-limit": {
    name: "limit",
    in: "query",
    description: "Maximum number of models. Default: all.",
    schema: { type: "integer", minimum: 1, maximum: 1000 },
  },
  after_id: inQuery("after_id", "Return the models after this id."),
  before_id: inQuery("before_id", "Return the models before this id; not with after_id."),
  pageSize: {
    name: "pageSize",
    in: "query",
    description: "Maximum number of models. Default: all.",
    schema: { type: "integer", minimum: 0 },
  },
  pageToken: inQuery("pageToken", "The `nextPageToken` of the previous page."),
  "x-goog-api-client": header("x-goog-api-client", "Sent by Google's SDKs; selects their response format."),
  order: {
    name: "order",
    in: "query",
    description: "Default: `desc`, newest first.",
    schema: { type: "string", enum: ["asc", "desc"] },
  },
  after: inQuery("after", "Return the items after this id, in this order."),
  "file-id": inPath("id", "As in the URL of a response."),
  expires: inQuery("expires", "Part of a signed URL: when it expires, in seconds since 1970."),
  signature: inQuery("signature", "Part of a signed URL."),
  holder: inQuery("holder", "Part of a signed URL: the id of the key that it was given to, and is used as."),
  range: header("range", "The requested range of the file, such as `bytes=0-1023`."),
  "idempotency-key": header(
    "Idempotency-Key",
    "The same key with the same body returns the same operation for 24 hours; with another body it is refused.",
  ),
  "x-trivium-media": header("x-trivium-media", "`inline` returns the videos themselves instead of their URLs.", {
    type: "string",
    enum: ["inline"],
  }),
  "x-trivium-strict": header("x-trivium-strict", "`true` refuses requests that cannot be honoured exactly.", {
    type: "string",
    enum: ["true", "false"],
  }),
  "x-trivium-routing": header(
    "x-trivium-routing",
    "JSON with `provider` and `model_routing_config` as in chat requests, for clients that cannot add fields to a body.",
  ),
  "x-trivium-survive": header("x-trivium-survive", "`true`: a stream that breaks off continues at another provider.", {
    type: "string",
    enum: ["true", "false"],
  }),
  "x-trivium-hedge": header("x-trivium-hedge", "`true`: a second provider is called if the first is slow.", {
    type: "string",
    enum: ["true", "false"],
  }),
  "x-trivium-deadline-ms": header("x-trivium-deadline-ms", "Time limit of the whole call in milliseconds.", {
    type: "integer",
    minimum: 1,
    maximum: MAX_DEADLINE_MS,
  }),
  "live-model": { ...inQuery("model", "The model of the session. A client secret implies its model."), name: "model" },
  "x-trivium-cache": header(
    "x-trivium-cache",
    "If the key has a cache of responses: `use` one (the default), `refresh` it, or `off`.",
    { type: "string", enum: ["use", "refresh", "off"] },
  ),
  "x-trivium-tags": header(
    "x-trivium-tags",
    `At most ${MAX_TAGS} comma-separated tags, for grouping usage; the key's tags are added.`,
    {
      type: "string",
      pattern: `^${TAG}([ \\t]*,[ \\t]*${TAG}){0,${MAX_TAGS - 1}}$`,
      examples: ["team-a, feature=search"],
    },
  ),
  "partner-version": header("partner-version", "Required, unless anthropic-version is given.", {
    type: "string",
    enum: ["2023-06-01"],
  }),
  "anthropic-version": header("anthropic-version", "Sent by the vendor's SDKs instead of partner-version.", {
    type: "string",
    enum: ["2023-06-01", "2026-10-21"],
  }),
  "partner-beta": header(
    "partner-beta",
    "Comma-separated, or repeated; anthropic-beta is the same. code-execution-2025-08-25 is refused at the strict base URLs.",
  ),
};

export const HEADERS = {
  "x-trivium-request-id": { description: "The id of this request.", schema: { type: "string" } },
  "x-trivium-receipt": {
    description: "The id of the receipt, for GET /api/v1/generation.",
    schema: { type: "string" },
  },
  "x-trivium-dropped": {
    description: "Paths of the request's fields that were dropped, comma-separated.",
    schema: { type: "string" },
  },
  "x-trivium-approximated": {
    description:
      "Paths of the request's fields that were approximated as closely as the provider allows, comma-separated.",
    schema: { type: "string" },
  },
};

const RATES = ["requests", "tokens"].flatMap((what) => [
  [`x-ratelimit-limit-${what}`, `The key's limit of ${what} a minute.`],
  [`x-ratelimit-remaining-${what}`, `The remaining ${what}.`],
  [`x-ratelimit-reset-${what}`, "When the limit is fully restored, such as `12s`."],
]);

/** Only if the key has such limits. */
export const RATE_HEADERS: Readonly<Record<string, object>> = Object.fromEntries(
  RATES.map(([name, description]) => [name, { description, schema: { type: "string" } }]),
);

/** Only on failures. */
export const FAILURE_HEADERS = {
  "retry-after": {
    description: "Seconds until a retry may succeed; with 429, and if a provider or the gateway names a time.",
    schema: { type: "integer", minimum: 1, maximum: 60 },
  },
  "x-should-retry": {
    description:
      "For the vendors' SDKs: `false` if a retry cannot help, as with every 4xx except 429; `true` with a 402 caused by requests in flight.",
    schema: { type: "string", enum: ["false", "true"] },
  },
};

export const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer" },
  "x-api-key": { type: "apiKey", in: "header", name: "x-api-key" },
  "x-goog-api-key": { type: "apiKey", in: "header", name: "x-goog-api-key" },
};
