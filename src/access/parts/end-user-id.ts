import { isPlainLine } from "../../base/is-plain-line.ts";
import { GatewayError } from "../../canon/error.ts";

/** Longer than the ids that vendors accept. */
export const MAX_END_USER_LENGTH = 256;

/** Whether it can be stored, shown and put in a URL. */
export const isEndUser = (value: string): boolean =>
  value !== "" && value.length <= MAX_END_USER_LENGTH && isPlainLine(value) && !value.includes("\ufffd");

/** Checks the id of an end user. */
export function checkEndUser(value: string, path: string): string {
  if (isEndUser(value)) return value;
  const message = `\`${path}\` must have 1 to ${MAX_END_USER_LENGTH} characters and no control characters, because it is the id of an end user.`;
  throw new GatewayError("invalid_request", message, { path });
}
