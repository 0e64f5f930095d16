import { type FailureName, HostError } from "../../../host-error.ts";

export function anthropicError(
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): HostError {
  const body = JSON.stringify({ type: "error", error: { type, message }, request_id: "req_simulated" });
  const retry: Record<string, string> = status < 500 && status !== 429 ? { "x-should-retry": "false" } : {};
  return new HostError(status, body, { ...retry, ...headers });
}

/** A 400 that names the field at fault, as this host does. */
export function invalid(path: string, message: string): HostError {
  return anthropicError(400, "invalid_request_error", path === "" ? message : `${path}: ${message}`);
}

/** The newest SDK asks the host to keep the conversation, and continues without it when the error has these details. */
export function threadsUnsupported(): HostError {
  const details = { error_code: "thread_unsupported_request", unsupported: ["thread"] };
  const error = { type: "invalid_request_error", message: "thread: not supported by the simulator", details };
  const body = JSON.stringify({ type: "error", error, request_id: "req_simulated" });
  return new HostError(400, body, { "x-should-retry": "false" });
}

export function modelNotFound(model: string): HostError {
  return anthropicError(404, "not_found_error", `model: ${model}`);
}

export function promptTooLong(tokens: number, limit: number): HostError {
  return invalid("", `prompt is too long: ${tokens} tokens > ${limit} maximum`);
}

export function anthropicFailure(name: FailureName, model: string): HostError {
  switch (name) {
    case "400":
      return invalid("messages", "Simulated: the request is not valid");
    case "401":
      return anthropicError(401, "authentication_error", "invalid x-api-key");
    case "403":
      return anthropicError(403, "permission_error", "Simulated: your API key may not use this resource.");
    case "404":
      return modelNotFound(model);
    case "413":
      return anthropicError(413, "request_too_large", "Request exceeds the maximum size");
    case "429":
      return anthropicError(429, "rate_limit_error", "Simulated: this request would exceed your rate limit.", {
        "retry-after": "1",
        "anthropic-ratelimit-requests-limit": "60",
        "anthropic-ratelimit-requests-remaining": "0",
      });
    case "429-quota":
      return anthropicError(429, "rate_limit_error", "Simulated: this would exceed your organization's usage limit.", {
        "x-should-retry": "false",
      });
    case "500":
      return anthropicError(500, "api_error", "Internal server error");
    case "503":
      return anthropicError(503, "api_error", "Simulated: service unavailable");
    case "529":
      return anthropicError(529, "overloaded_error", "Overloaded");
  }
}
