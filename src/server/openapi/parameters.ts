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
];

/** Of a request for videos: its job goes on after the answer. */
export const JOB_HEADERS = ["x-trivium-strict", "x-trivium-routing", "x-trivium-tags"];

/** Of a request for images, which is no stream of text. */
export const IMAGE_HEADERS = [...JOB_HEADERS, "x-trivium-deadline-ms"];

export const PARAMETERS = {
  provider: inPath("provider", "The part of the model's id before the slash."),
  model: inPath("model", "The part of the model's id after the slash."),
  alt: {
    name: "alt",
    in: "query",
    description: "`sse` for server-sent events; without it the answer is one JSON array.",
    schema: { type: "string", enum: ["sse", "json"] },
  },
  "receipt-id": {
    name: "id",
    in: "query",
    required: true,
    description: "The value of the header x-trivium-receipt of an answer.",
    schema: { type: "string" },
  },
  "response-id": inPath("id", "The id of a response of this project that is stored."),
  "key-id": inPath("id", "The id of a key that this key has made."),
  limit: {
    name: "limit",
    in: "query",
    description: "How many, 20 where absent.",
    schema: { type: "integer", minimum: 1, maximum: 100 },
  },
  "models-limit": {
    name: "limit",
    in: "query",
    description: "How many models, all where absent.",
    schema: { type: "integer", minimum: 1, maximum: 1000 },
  },
  after_id: inQuery("after_id", "The id of the model before the first that is wanted."),
  before_id: inQuery("before_id", "The id of the model after the last that is wanted; not with after_id."),
  pageSize: {
    name: "pageSize",
    in: "query",
    description: "How many models, all where absent.",
    schema: { type: "integer", minimum: 0 },
  },
  pageToken: inQuery("pageToken", "The `nextPageToken` of the page before."),
  "x-goog-api-client": header("x-goog-api-client", "What Google's SDKs send; selects their shape."),
  order: {
    name: "order",
    in: "query",
    description: "`desc`, the latest first, where absent.",
    schema: { type: "string", enum: ["asc", "desc"] },
  },
  after: inQuery("after", "The id of the item before the first that is wanted, in this order."),
  "file-id": inPath("id", "As in the URL that an answer gave."),
  expires: inQuery("expires", "Part of a signed URL: when it expires, in seconds since 1970."),
  signature: inQuery("signature", "Part of a signed URL."),
  range: header("range", "The part of the file that is wanted, such as `bytes=0-1023`."),
  "idempotency-key": header(
    "Idempotency-Key",
    "The same key with the same body gives the same operation for 24 hours; with another body it is refused.",
  ),
  "x-trivium-media": header("x-trivium-media", "`inline` for the videos themselves instead of their URLs.", {
    type: "string",
    enum: ["inline"],
  }),
  "x-trivium-strict": header("x-trivium-strict", "`true` refuses what could not be honoured to the letter.", {
    type: "string",
    enum: ["true", "false"],
  }),
  "x-trivium-routing": header(
    "x-trivium-routing",
    "JSON with `provider` and `model_routing_config` as chat requests have them, for clients that cannot add fields to a body.",
  ),
  "x-trivium-survive": header("x-trivium-survive", "`true`: a stream that breaks off goes on at another provider.", {
    type: "string",
    enum: ["true", "false"],
  }),
  "x-trivium-hedge": header("x-trivium-hedge", "`true`: a second provider is asked where the first is slow.", {
    type: "string",
    enum: ["true", "false"],
  }),
  "x-trivium-deadline-ms": header("x-trivium-deadline-ms", "Milliseconds for the call as a whole.", {
    type: "integer",
    minimum: 1,
    maximum: MAX_DEADLINE_MS,
  }),
  "x-trivium-tags": header(
    "x-trivium-tags",
    `At most ${MAX_TAGS} tags with commas between them, by which usage can be summed up; those of the key are added.`,
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
  "anthropic-version": header("anthropic-version", "What the vendor's SDKs send instead of partner-version.", {
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
    description: "Paths of the request's fields that were honoured as nearly as the provider can, comma-separated.",
    schema: { type: "string" },
  },
};

const RATES = ["requests", "tokens"].flatMap((what) => [
  [`x-ratelimit-limit-${what}`, `How many ${what} the key may have in a minute.`],
  [`x-ratelimit-remaining-${what}`, `How many of these ${what} are left.`],
  [`x-ratelimit-reset-${what}`, "When all of them are there again, such as `12s`."],
]);

/** Only where the key has such limits. */
export const RATE_HEADERS: Readonly<Record<string, object>> = Object.fromEntries(
  RATES.map(([name, description]) => [name, { description, schema: { type: "string" } }]),
);

/** Only on failures. */
export const FAILURE_HEADERS = {
  "retry-after": {
    description:
      "After so many seconds the same may succeed; with 429, and where a provider or the gateway names a time.",
    schema: { type: "integer", minimum: 1, maximum: 60 },
  },
  "x-should-retry": {
    description:
      "For the vendors' SDKs: `false` if a retry cannot help, as with every 4xx except 429; `true` with a 402 that running requests cause.",
    schema: { type: "string", enum: ["false", "true"] },
  },
};

export const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer" },
  "x-api-key": { type: "apiKey", in: "header", name: "x-api-key" },
  "x-goog-api-key": { type: "apiKey", in: "header", name: "x-goog-api-key" },
};
