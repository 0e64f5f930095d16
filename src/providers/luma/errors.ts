import { arrayAt, stringAt } from "../../base/json.ts";
import type { ErrorKind, GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { reportedFailure } from "../media-adapters/failed-job.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";

const MODERATION = /moderat|content polic|not allowed by our/i;

export function lumaError(answer: MediaAnswer): GatewayError {
  const message = detail(answer.body);
  return failedAnswer(answer, { message, kind: kindOfMessage(answer.status, message) });
}

/** The host has no codes: only its message distinguishes a refusal or an empty account from a bad field. */
function kindOfMessage(status: number, message = ""): ErrorKind | undefined {
  if (status !== 400 && status !== 403) return undefined;
  if (MODERATION.test(message)) return "content_blocked";
  return /\bcredits?\b/i.test(message) ? "upstream_credentials" : undefined;
}

/** One sentence, or a list of faults with the path of each. */
function detail(body: unknown): string | undefined {
  const sentence = stringAt(body, "detail");
  if (sentence !== undefined) return sentence;
  const faults = arrayAt(body, "detail").map((fault) => {
    return [arrayAt(fault, "loc").join("."), stringAt(fault, "msg")].filter(Boolean).join(": ");
  });
  return faults.length > 0 ? faults.join("; ") : undefined;
}

export function generationError(generation: unknown): GatewayError {
  const message = stringAt(generation, "failure_reason");
  return reportedFailure({ message, kind: MODERATION.test(message ?? "") ? "content_blocked" : "upstream_failed" });
}
