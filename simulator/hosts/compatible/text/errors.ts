import { HostError } from "../../../host-error.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { ErrorShape, HostBehaviour, Refusal } from "./behaviour.ts";

const byStatus = <T>(table: Readonly<Record<number, T>>, status: number, other: T): T => table[status] ?? other;

/** The numbers of the hosts that count their errors themselves. */
const ZHIPU_CODES: Readonly<Record<number, string>> = {
  400: "1210",
  401: "1002",
  402: "1113",
  404: "1211",
  429: "1302",
};
const MINIMAX_CODES: Readonly<Record<number, number>> = { 400: 2013, 401: 1004, 402: 1008, 404: 2013, 429: 1002 };
const ARK_CODES: Readonly<Record<number, string>> = {
  400: "InvalidParameter",
  401: "AuthenticationError",
  404: "ModelNotOpen",
  429: "RateLimitExceeded.EndpointRPMExceeded",
  503: "ServerOverloaded",
};
const DASHSCOPE_CODES: Readonly<Record<number, string>> = {
  400: "InvalidParameter",
  401: "InvalidApiKey",
  404: "ModelNotFound",
  429: "Throttling.RateQuota",
};
const MOONSHOT_TYPES: Readonly<Record<number, string>> = {
  401: "invalid_authentication_error",
  429: "rate_limit_reached_error",
  503: "engine_overloaded_error",
};

/** OpenAI reports an account without credit as a rate limit, other hosts report it as what it is. */
const statusOf = ({ status, code }: Refusal): number => (code === "insufficient_quota" ? 402 : status);

export const SHAPES = {
  openai: { body: ({ message, type, param, code }) => ({ error: { message, type, param, code } }) },
  /** `{code, error}`, both texts. */
  codeAndError: { body: ({ message, code, type }) => ({ code: code ?? type, error: message }) },
  topLevel: { body: ({ message, type, param, code }) => ({ message, type, param, code }) },
  object: { body: ({ message, type, param, code }) => ({ object: "error", message, type, param, code }) },
  numbered: {
    body: ({ message, status }) => ({
      error: { code: status, message, metadata: { provider_name: "Simulator" } },
      user_id: "user_simulated",
    }),
    inChunk: true,
  },
  messageAndType: {
    body: ({ message, status, type }) => ({ error: { message, type: byStatus(MOONSHOT_TYPES, status, type) } }),
  },
  zhipu: {
    body: (refusal) => ({ error: { code: byStatus(ZHIPU_CODES, statusOf(refusal), "500"), message: refusal.message } }),
  },
  dashscope: {
    body: ({ message, type, status }) => ({
      error: { message, type, param: null, code: byStatus(DASHSCOPE_CODES, status, "InternalError") },
      request_id: "req_simulated",
    }),
  },
  ark: {
    body: ({ message, type, param, status }) => ({
      error: {
        code: byStatus(ARK_CODES, status, "InternalServiceError"),
        message: `${message} Request id: req_simulated`,
        param: param ?? "",
        type,
      },
    }),
  },
  minimax: {
    body: (refusal) => ({
      choices: null,
      base_resp: { status_code: byStatus(MINIMAX_CODES, statusOf(refusal), 1000), status_msg: refusal.message },
    }),
    status: 200,
  },
  vllm: { body: ({ message, type, param, status }) => ({ error: { message, type, param, code: status } }) },
  llama: { body: ({ message, type, status }) => ({ error: { code: status, message, type } }) },
  azure: { body: ({ message, status, code, param }) => ({ error: { code: code ?? String(status), message, param } }) },
} as const satisfies Readonly<Record<string, ErrorShape>>;

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

/** What an error in OpenAI's shape says. */
export function refusalOf(error: HostError): Refusal {
  const body = JSON.parse(error.body) as JsonObject;
  const said = isObject(body.error) ? body.error : {};
  return {
    status: error.status,
    message: text(said.message) ?? "",
    type: text(said.type) ?? "invalid_request_error",
    param: text(said.param),
    code: text(said.code),
  };
}

/** The same failure in the words of the host. */
export function inHostsWords(error: HostError, { errors }: HostBehaviour): HostError {
  const { body, status = error.status }: ErrorShape = errors;
  return new HostError(status, JSON.stringify(body(refusalOf(error))), error.headers);
}

/** The failure inside a stream. */
export function streamedError(error: HostError, { errors }: HostBehaviour, envelope: JsonObject): string {
  const { body, inChunk }: ErrorShape = errors;
  const said = body(refusalOf(error));
  const choices = [{ index: 0, delta: { content: "" }, finish_reason: "error" }];
  return `data: ${JSON.stringify(inChunk ? { ...envelope, ...said, choices } : said)}\n\n`;
}
