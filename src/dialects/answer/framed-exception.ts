import { stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import { failureToError } from "../upstream-failure.ts";

/** The status of each exception outside a stream. Inside a stream only the name is known. */
const STATUS_OF_EXCEPTION: ReadonlyMap<string, number> = new Map([
  ["accessdenied", 403],
  ["expiredtoken", 403],
  ["unrecognizedclient", 403],
  ["internalserver", 500],
  ["modelerror", 424],
  ["modelnotready", 429],
  ["modelstreamerror", 424],
  ["modeltimeout", 408],
  ["resourcenotfound", 404],
  ["servicequotaexceeded", 429],
  ["serviceunavailable", 503],
  ["throttling", 429],
  ["validation", 400],
]);

/** `com.amazon.coral.service#ThrottlingException`, `throttlingException` and the like. */
export function statusOfException(name: string | undefined): number | undefined {
  const word = name?.split("#").at(-1)?.split(":")[0]?.toLowerCase();
  return word === undefined ? undefined : STATUS_OF_EXCEPTION.get(word.replace(/(?:exception|error)$/, ""));
}

export const messageOfException = (body: unknown): string | undefined =>
  stringAt(body, "message") ?? stringAt(body, "Message");

/** An exception among the binary frames of a stream, as the splitter writes it, in any dialect. */
export function decodeException(body: unknown): GatewayError {
  return failureToError({
    status: statusOfException(stringAt(body, "type")) ?? 500,
    message: messageOfException(body),
  });
}
