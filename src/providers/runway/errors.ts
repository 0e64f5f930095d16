import { stringAt } from "../../base/json.ts";
import type { ErrorKind, GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { type CodeTable, kindOfCode } from "../media-adapters/code-table.ts";
import { reportedFailure } from "../media-adapters/failed-job.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";

/** Codes of failed tasks are dotted paths, the general word first. */
const KINDS: CodeTable = [
  [/(?:^|\.)SAFETY(?:\.|$)/, "content_blocked"],
  [/^(?:ASSET|INPUT_PREPROCESSING)\./, "invalid_request"],
];

export function runwayError(answer: MediaAnswer): GatewayError {
  const message = stringAt(answer.body, "error");
  return failedAnswer(answer, { message, kind: kindOfMessage(answer.status, message) });
}

/** An account without credits is reported with a plain 400. */
const kindOfMessage = (status: number, message: string | undefined): ErrorKind | undefined =>
  status === 400 && /\bcredits\b/i.test(message ?? "") ? "upstream_credentials" : undefined;

export function taskError(task: unknown, status: string): GatewayError {
  const code = stringAt(task, "failureCode") ?? status;
  return reportedFailure({
    kind: kindOfCode(KINDS, code) ?? "upstream_failed",
    message: stringAt(task, "failure"),
    code,
  });
}
