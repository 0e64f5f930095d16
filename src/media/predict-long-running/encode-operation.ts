import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Operation, OperationPart, StoredError } from "../../canon/operation.ts";
import { ERROR_WORDS } from "../../dialects/genai/answer/error-words.ts";
import { operationProgress } from "../operation-progress.ts";
import { operationName } from "./operation-name.ts";

/** A video as its client receives it. */
export interface DeliveredVideo {
  url?: string;
  base64?: string;
  mimeType: string;
}

const RESPONSE_TYPE = "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse";

/**
 * The two forms of a finished operation: a list of videos (contract 2.2), or the samples that the vendor's public API returns to a
 * `GET` of the operation's name.
 */
export type OperationForm = "videos" | "samples";

const SAMPLES_TYPE = "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse";

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
export function encodeOperation(
  operation: Operation,
  videos: readonly DeliveredVideo[],
  form: OperationForm = "videos",
): JsonObject {
  const name = operationName(operation.model, operation.id);
  switch (operation.state) {
    case "submitting":
    case "running": {
      const progressPercent = operationProgress(operation.parts);
      return { name, ...(progressPercent === undefined ? {} : { metadata: { progressPercent } }) };
    }
    case "done":
      return {
        name,
        ...partialFailure(operation.parts),
        done: true,
        response: encodeResponse(
          operation.parts.flatMap((part) => part.filtered),
          videos,
          form,
        ),
      };
    case "failed":
      return encodeFailure(name, operation, form);
  }
}

/** What moderation blocked is not an error in this protocol (contract 7). */
function encodeFailure(name: string, operation: Operation, form: OperationForm): JsonObject {
  const error = operation.error ?? operation.parts.find((part) => part.error)?.error;
  if (error?.kind === "content_blocked") {
    const reasons = Array.from({ length: operation.job.count }, () => error.message);
    return { name, done: true, response: encodeResponse(reasons, [], form) };
  }
  return {
    name,
    done: true,
    error: encodeError(error ?? { kind: "internal", message: "The operation failed for an unknown reason." }),
  };
}

function encodeResponse(
  filtered: readonly string[],
  videos: readonly DeliveredVideo[],
  form: OperationForm,
): JsonObject {
  const blocked = encodeFiltered(filtered);
  if (form === "videos") return { "@type": RESPONSE_TYPE, ...blocked, videos: videos.map(encodeVideo) };
  const generatedSamples = videos.map(encodeSample);
  return { "@type": SAMPLES_TYPE, generateVideoResponse: { generatedSamples, ...blocked } };
}

const encodeFiltered = (reasons: readonly string[]): JsonObject =>
  reasons.length === 0 ? {} : { raiMediaFilteredCount: reasons.length, raiMediaFilteredReasons: reasons };

function encodeVideo({ url, base64, mimeType }: DeliveredVideo): JsonObject {
  return withoutAbsent({ gcsUri: url, bytesBase64Encoded: base64, mimeType });
}

/** Earlier versions of the vendor's SDK read the type next to the video. */
function encodeSample({ url, base64, mimeType: encoding }: DeliveredVideo): JsonObject {
  return { video: withoutAbsent({ uri: url, encodedVideo: base64, encoding }), encoding };
}

/** Failed videos of an operation in which others succeeded: the contract has no field for them. */
function partialFailure(parts: readonly OperationPart[]): JsonObject {
  const failures = parts.flatMap(({ error }) => (error === undefined ? [] : [encodeError(error)]));
  return failures.length === 0 ? {} : { metadata: { failures } };
}

function encodeError({ kind, message }: StoredError): JsonObject {
  return { code: CODES[ERROR_WORDS[kind]] ?? 13, message };
}
