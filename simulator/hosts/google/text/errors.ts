import { type FailureName, HostError } from "../../../host-error.ts";
import type { JsonObject } from "../../../json.ts";

/** The two hosts of Google's API. */
export type GoogleHost = "gemini" | "vertex";

const SERVICES = { gemini: "generativelanguage.googleapis.com", vertex: "aiplatform.googleapis.com" } as const;

const RPC = "type.googleapis.com/google.rpc";

export function googleError(code: number, status: string, message: string, details: JsonObject[] = []): HostError {
  const error = { code, message, status, ...(details.length === 0 ? {} : { details }) };
  return new HostError(code, `${JSON.stringify({ error }, null, 2)}\n`);
}

export function invalid(message: string): HostError {
  return googleError(400, "INVALID_ARGUMENT", message);
}

/** `proto_names[0].like_this`, which is how this host writes paths. */
function protoPath(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function badField(path: string, description: string): HostError {
  const field = protoPath(path);
  const violation = field === "" ? { description } : { field, description };
  return googleError(400, "INVALID_ARGUMENT", description, [
    { "@type": `${RPC}.BadRequest`, fieldViolations: [violation] },
  ]);
}

export function unknownName(name: string, path: string): HostError {
  const location = path === "" ? "" : ` at '${protoPath(path)}'`;
  return badField(path, `Invalid JSON payload received. Unknown name "${name}"${location}: Cannot find field.`);
}

export function invalidValue(path: string, expected: string, value: unknown): HostError {
  return badField(path, `Invalid value at '${protoPath(path)}' (${expected}), ${JSON.stringify(value)}`);
}

export function missingKey(): HostError {
  return googleError(
    403,
    "PERMISSION_DENIED",
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
  );
}

export function wrongKey(host: GoogleHost): HostError {
  const message = "API key not valid. Please pass a valid API key.";
  return googleError(400, "INVALID_ARGUMENT", message, [
    {
      "@type": `${RPC}.ErrorInfo`,
      reason: "API_KEY_INVALID",
      domain: "googleapis.com",
      metadata: { service: SERVICES[host] },
    },
    { "@type": `${RPC}.LocalizedMessage`, locale: "en-US", message },
  ]);
}

export function wrongToken(host: GoogleHost): HostError {
  return googleError(
    401,
    "UNAUTHENTICATED",
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    [
      {
        "@type": `${RPC}.ErrorInfo`,
        reason: "ACCESS_TOKEN_TYPE_UNSUPPORTED",
        domain: "googleapis.com",
        metadata: { service: SERVICES[host] },
      },
    ],
  );
}

export function modelNotFound(host: GoogleHost, model: string, path: string): HostError {
  if (host === "vertex") {
    const resource =
      /(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/.*$/.exec(path)?.[0].replace(/:\w+$/, "") ?? model;
    return googleError(
      404,
      "NOT_FOUND",
      `Publisher Model \`${resource}\` was not found or your project does not have access to it.`,
    );
  }
  return googleError(
    404,
    "NOT_FOUND",
    `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
  );
}

function quotaFailure(model: string): JsonObject {
  const violation = { quotaId: "GenerateRequestsPerMinutePerProjectPerModel", quotaDimensions: { model } };
  return { "@type": `${RPC}.QuotaFailure`, violations: [violation] };
}

export function googleFailure(name: FailureName, model: string, host: GoogleHost): HostError {
  switch (name) {
    case "400":
      return invalid("Simulated: request contains an invalid argument.");
    case "401":
      return host === "gemini" ? wrongKey(host) : wrongToken(host);
    case "403":
      return googleError(403, "PERMISSION_DENIED", "Simulated: permission denied on the resource.", [
        { "@type": `${RPC}.ErrorInfo`, reason: "IAM_PERMISSION_DENIED", domain: SERVICES[host] },
      ]);
    case "404":
      return modelNotFound(host, model, "");
    case "413":
      return googleError(413, "INVALID_ARGUMENT", "Simulated: request payload size exceeds the limit.");
    case "429":
      return googleError(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted. Please retry in 1s.", [
        quotaFailure(model),
        { "@type": `${RPC}.RetryInfo`, retryDelay: "1s" },
      ]);
    case "429-quota":
      return googleError(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
        [quotaFailure(model)],
      );
    case "500":
      return googleError(500, "INTERNAL", "Simulated: an internal error has occurred.");
    case "503":
      return googleError(503, "UNAVAILABLE", "Simulated: the model is overloaded. Please try again later.");
    case "529":
      return googleError(529, "UNAVAILABLE", "Simulated: the site is overloaded.");
  }
}
