import { type ErrorKind, GatewayError } from "../canon/error.ts";
import { isObject, numberAt, stringAt } from "../canon/json.ts";
import { failureToError, readRetryAfter } from "../dialects/upstream-failure.ts";
import type { MediaAnswer } from "../media/media-wire.ts";
import { unmade } from "./unmade.ts";

/** What a host's own code words mean, where they say more than the status. */
export type KindOfCode = Readonly<Record<string, ErrorKind>>;

interface ErrorWords {
  message: string | undefined;
  code: string | undefined;
  path: string | undefined;
  kind: ErrorKind | undefined;
}

/**
 * The words of an error, in the forms that hosts after the manner of chat completions share: `{ error: { message, code, type,
 * param } }`, `{ error: "…", code }`, and either of them without its envelope. A code may be a number.
 */
export function errorWords(body: unknown, kinds: KindOfCode): ErrorWords {
  const nested = isObject(body) ? body["error"] : undefined;
  const error = isObject(nested) ? nested : body;
  const code = stringAt(error, "code") ?? numberAt(error, "code")?.toString();
  const words = [code, stringAt(error, "type")].filter((word) => word !== undefined);
  return {
    message: typeof nested === "string" ? nested : stringAt(error, "message"),
    code,
    path: stringAt(error, "param"),
    kind: words
      .map((word) => (Object.hasOwn(kinds, word) ? kinds[word] : undefined))
      .find((kind) => kind !== undefined),
  };
}

/** What an error answer means; one with a status of 2xx too, where its body holds an error all the same. */
export function mediaFailure(answer: MediaAnswer, kinds: KindOfCode): GatewayError {
  const { message, code, path, kind } = errorWords(answer.body, kinds);
  return failureToError({
    status: answer.status,
    message,
    kind,
    retryAfterSeconds: readRetryAfter(answer.retryAfter),
    code,
    path,
  });
}

/** Why a job failed that had been accepted. */
export function jobFailure(body: unknown, kinds: KindOfCode): GatewayError {
  const { message, code, kind } = errorWords(body, kinds);
  return unmade({ message, code, kind });
}

/** Where a 2xx answer lacks what it must hold, and holds no error either. */
export function emptyAnswer(what: string): GatewayError {
  return new GatewayError("upstream_failed", `The provider answered without ${what}.`);
}
