import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Operation, OperationPart, StoredError } from "../../canon/operation.ts";
import { ERROR_WORDS } from "../../dialects/genai/answer/error-words.ts";
import { operationName } from "./operation-name.ts";

/** A video as its client receives it. */
export interface DeliveredVideo {
  url?: string;
  base64?: string;
  mimeType: string;
}

const RESPONSE_TYPE = "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse";

/** The numeric codes of these statuses in an operation's error. */
const CODES: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
};

/** The state of an operation (contract 2.2 and 3). `videos`: those of its parts, in order. */
export function encodeOperation(operation: Operation, videos: readonly DeliveredVideo[]): JsonObject {
  const name = operationName(operation.model, operation.id);
  switch (operation.state) {
    case "submitting":
    case "running": {
      const progressPercent = progressOf(operation.parts);
      return { name, ...(progressPercent === undefined ? {} : { metadata: { progressPercent } }) };
    }
    case "done":
      return { name, ...partialFailure(operation.parts), done: true, response: encodeResponse(operation, videos) };
    case "failed":
      return encodeFailure(name, operation);
  }
}

/** What moderation blocked is not an error in this protocol (contract 7). */
function encodeFailure(name: string, operation: Operation): JsonObject {
  const error = operation.error ?? operation.parts.find((part) => part.error)?.error;
  if (error?.kind === "content_blocked") {
    const count = operation.job.count;
    const response = { "@type": RESPONSE_TYPE, ...encodeFiltered(Array.from({ length: count }, () => error.message)) };
    return { name, done: true, response: { ...response, videos: [] } };
  }
  return {
    name,
    done: true,
    error: encodeError(error ?? { kind: "internal", message: "The operation failed for an unknown reason." }),
  };
}

function encodeResponse(operation: Operation, videos: readonly DeliveredVideo[]): JsonObject {
  return {
    "@type": RESPONSE_TYPE,
    ...encodeFiltered(operation.parts.flatMap((part) => part.filtered)),
    videos: videos.map(encodeVideo),
  };
}

const encodeFiltered = (reasons: readonly string[]): JsonObject =>
  reasons.length === 0 ? {} : { raiMediaFilteredCount: reasons.length, raiMediaFilteredReasons: reasons };

function encodeVideo({ url, base64, mimeType }: DeliveredVideo): JsonObject {
  return withoutAbsent({ gcsUri: url, bytesBase64Encoded: base64, mimeType });
}

/** Failed videos of an operation in which others succeeded: the contract has no field for them. */
function partialFailure(parts: readonly OperationPart[]): JsonObject {
  const failures = parts.flatMap(({ error }) => (error === undefined ? [] : [encodeError(error)]));
  return failures.length === 0 ? {} : { metadata: { failures } };
}

function encodeError({ kind, message }: StoredError): JsonObject {
  return { code: CODES[ERROR_WORDS[kind]] ?? 13, message };
}

/** Progress over all videos, if the provider reports any. */
function progressOf(parts: readonly OperationPart[]): number | undefined {
  if (parts.every((part) => part.progress === undefined && part.state !== "done")) return undefined;
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const reached = (part: OperationPart) =>
    part.state === "done" || part.state === "failed" ? 100 : (part.progress ?? 0);
  return Math.floor(parts.reduce((sum, part) => sum + reached(part) * part.count, 0) / Math.max(1, total));
}
