import { type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import type { BatchForm } from "../../batches/batch-form.ts";
import type { EndedLine } from "../../storage/tables/batch-lines.ts";

/** The request of a line. */
export interface LineRequest {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: JsonObject;
}

export interface ServedBatchForm extends BatchForm {
  /** Throws nothing: a line that cannot be sent is sent as it is, and refused. */
  requestOf(line: JsonObject, endpoint: string): LineRequest;
}

/** The endpoints whose requests a batch can have. */
export const CHAT_ENDPOINTS = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/completions",
  "/v1/moderations",
] as const;

const JSON_HEADERS = { "content-type": "application/json" };

const NEVER_RUN = {
  cancelled: { code: "batch_cancelled", message: "The batch was cancelled before this request was run." },
  expired: { code: "batch_expired", message: "The batch expired before this request was run." },
} as const;

const reasonOf = ({ state }: EndedLine) => (state === "cancelled" ? NEVER_RUN.cancelled : NEVER_RUN.expired);

const withBody = (line: JsonObject, key: string): JsonObject => objectAt(line, key) ?? {};

const chatForm: ServedBatchForm = {
  idField: "custom_id",
  separatesErrors: true,
  failsByLine: false,
  customId: (line) => stringAt(line, "custom_id"),
  problem: (line, endpoint) => {
    if (line["method"] !== "POST") return 'method must be "POST".';
    if (line["url"] !== endpoint) return `url must be ${endpoint}, the endpoint of the batch.`;
    if (objectAt(line, "body") === undefined) return "body must be an object.";
    const unfit = ["stream", "background"].find((field) => objectAt(line, "body")?.[field] === true);
    return unfit === undefined ? undefined : `body.${unfit} must not be true in a batch.`;
  },
  requestOf: (line, endpoint) => ({ path: endpoint, headers: JSON_HEADERS, body: withBody(line, "body") }),
  render: (line) => {
    const { customId, result, status } = line;
    const body = parseObject(result ?? "");
    const id = `batch_req_${line.line}`;
    if (line.state !== "ended" || body === undefined) {
      return JSON.stringify({ id, custom_id: customId, response: null, error: reasonOf(line) });
    }
    const response = { status_code: status, request_id: stringAt(body, "id") ?? id, body };
    return JSON.stringify({ id, custom_id: customId, response, error: null });
  },
};

const messagesForm: ServedBatchForm = {
  idField: "custom_id",
  separatesErrors: false,
  failsByLine: true,
  customId: (line) => stringAt(line, "custom_id"),
  problem: (line) => {
    const parameters = objectAt(line, "params");
    if (parameters === undefined) return "params must be an object.";
    return parameters["stream"] === true ? "params.stream must not be true in a batch." : undefined;
  },
  requestOf: (line) => ({
    path: "/v1/messages",
    headers: { ...JSON_HEADERS, "anthropic-version": "2023-06-01" },
    body: withBody(line, "params"),
  }),
  render: (line) => {
    const { customId, result, status = 0, state } = line;
    const body = parseObject(result ?? "");
    const outcome =
      state !== "ended" || body === undefined
        ? { type: state === "cancelled" ? "canceled" : "expired" }
        : status < 300
          ? { type: "succeeded", message: body }
          : { type: "errored", error: body };
    return JSON.stringify({ custom_id: customId, result: outcome });
  },
};

const genaiForm: ServedBatchForm = {
  idField: "key",
  separatesErrors: false,
  failsByLine: false,
  customId: (line) => stringAt(line, "key"),
  problem: (line) => (objectAt(line, "request") === undefined ? "request must be an object." : undefined),
  requestOf: (line, endpoint) => {
    const { model, ...body } = withBody(line, "request");
    // A line may name a model of its own.
    const path =
      typeof model === "string" ? `/v1beta/models/${model.replace(/^models\//, "")}:generateContent` : endpoint;
    return { path, headers: JSON_HEADERS, body };
  },
  render: (line) => {
    const { customId, result, status = 0, state } = line;
    const body = parseObject(result ?? "");
    if (state === "ended" && body !== undefined && status < 300)
      return JSON.stringify({ key: customId, response: body });
    const { message } = reasonOf(line);
    const error = objectAt(body, "error") ?? { code: 499, message, status: "CANCELLED" };
    return JSON.stringify({ key: customId, error });
  },
};

export const BATCH_FORMS: Readonly<Record<string, ServedBatchForm>> = {
  chat: chatForm,
  messages: messagesForm,
  genai: genaiForm,
};
