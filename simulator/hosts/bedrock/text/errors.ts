import { type FailureName, HostError } from "../../../host-error.ts";

/** The name of an error is in a header; the body only has its message. */
export function bedrockError(status: number, name: string, message: string): HostError {
  return new HostError(status, JSON.stringify({ message }), {
    "content-type": "application/json",
    "x-amzn-errortype": `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  });
}

export function invalid(message: string): HostError {
  return bedrockError(400, "ValidationException", message);
}

export function modelNotFound(): HostError {
  return invalid("The provided model identifier is invalid.");
}

const NAMES: Readonly<Record<number, string>> = {
  400: "ValidationException",
  401: "AccessDeniedException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  413: "ValidationException",
  429: "ThrottlingException",
  500: "InternalServerException",
  503: "ServiceUnavailableException",
  529: "ServiceUnavailableException",
};

/** Statuses that this host does not have become those that it has. */
const STATUSES: Readonly<Record<number, number>> = { 401: 403, 413: 400, 529: 503 };

export function bedrockFailure(name: FailureName): HostError {
  const wanted = Number.parseInt(name, 10);
  const what = name === "429-quota" ? "Too many tokens per day, please wait before trying again" : `status ${wanted}`;
  return bedrockError(STATUSES[wanted] ?? wanted, NAMES[wanted] ?? "InternalServerException", `Simulated: ${what}.`);
}

/** A refusal of the hosted model's own, in this host's shape. */
export function fromModel(error: HostError): HostError {
  const body = JSON.parse(error.body) as { error?: { message?: string } };
  const status = STATUSES[error.status] ?? error.status;
  return bedrockError(status, NAMES[error.status] ?? "ModelErrorException", body.error?.message ?? error.body);
}
