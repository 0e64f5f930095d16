import { type FailureName, HostError } from "../../../host-error.ts";

interface ErrorFields {
  type?: string;
  param?: string | null;
  code?: string | null;
}

export function openaiError(
  status: number,
  message: string,
  fields: ErrorFields = {},
  headers: Record<string, string> = {},
): HostError {
  const { type = "invalid_request_error", param = null, code = null } = fields;
  const body = JSON.stringify({ error: { message, type, param, code } }, null, 2);
  return new HostError(status, `${body}\n`, headers);
}

export function invalid(message: string, param: string | null, code: string | null): HostError {
  return openaiError(400, message, { param, code });
}

export function missingKey(): HostError {
  return openaiError(401, "You didn't provide an API key. Send it in the header `Authorization: Bearer KEY`.");
}

export function wrongKey(key: string): HostError {
  const shown = key.length > 8 ? `${key.slice(0, 4)}****${key.slice(-4)}` : "****";
  return openaiError(401, `Incorrect API key provided: ${shown}.`, { code: "invalid_api_key" });
}

export function modelNotFound(model: string): HostError {
  return openaiError(404, `The model \`${model}\` does not exist or you do not have access to it.`, {
    code: "model_not_found",
  });
}

export function contextTooLong(tokens: number, limit: number): HostError {
  return invalid(
    `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`,
    "messages",
    "context_length_exceeded",
  );
}

const RATE_LIMIT_HEADERS = {
  "retry-after": "1",
  "retry-after-ms": "1000",
  "x-ratelimit-limit-requests": "60",
  "x-ratelimit-remaining-requests": "0",
  "x-ratelimit-reset-requests": "1s",
};

export function openaiFailure(name: FailureName, model: string): HostError {
  switch (name) {
    case "400":
      return invalid("Simulated: the request is not valid.", "messages", "invalid_value");
    case "401":
      return openaiError(401, "Incorrect API key provided: simu****ated.", { code: "invalid_api_key" });
    case "403":
      return openaiError(403, "Simulated: country, region, or territory not supported.", {
        type: "request_forbidden",
        code: "unsupported_country_region_territory",
      });
    case "404":
      return modelNotFound(model);
    case "413":
      return openaiError(413, "Simulated: the request body is too large.", { code: "request_too_large" });
    case "429":
      return openaiError(
        429,
        `Rate limit reached for ${model} on requests per min. Please try again in 1s.`,
        { type: "requests", code: "rate_limit_exceeded" },
        RATE_LIMIT_HEADERS,
      );
    case "429-quota":
      return openaiError(429, "You exceeded your current quota, please check your plan and billing details.", {
        type: "insufficient_quota",
        code: "insufficient_quota",
      });
    case "500":
      return openaiError(500, "Simulated: the server had an error while processing your request.", {
        type: "server_error",
      });
    case "503":
      return openaiError(503, "Simulated: the engine is currently overloaded, please try again later.", {
        type: "server_error",
        code: "overloaded",
      });
    case "529":
      return openaiError(529, "Simulated: the site is overloaded.", { type: "server_error", code: "overloaded" });
  }
}
