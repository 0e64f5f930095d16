import type { HostError } from "../../../host-error.ts";
import { isObject } from "../../../json.ts";

/** A close reason has no room for more. */
const MAX_REASON_BYTES = 123;

/** The connection is closed with this code and reason, which is all that the host says about an error. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, reason: string) {
    super(reason);
    this.code = code;
  }

  get reason(): string {
    return Buffer.from(this.message)
      .subarray(0, MAX_REASON_BYTES)
      .toString()
      .replace(/\uFFFD+$/, "");
  }
}

export const INVALID = 1007;
export const POLICY = 1008;
export const INTERNAL = 1011;

const CODES: Readonly<Record<number, number>> = { 400: INVALID, 401: POLICY, 403: POLICY, 404: POLICY };

/** The same error as an HTTP call would have, said with a close code. */
export function refusalOf(error: HostError): Refusal {
  const parsed: unknown = JSON.parse(error.body);
  const inner = isObject(parsed) && isObject(parsed.error) ? parsed.error : {};
  return new Refusal(CODES[error.status] ?? INTERNAL, String(inner.message ?? "Internal error encountered."));
}
