import type { GatewayError } from "../canon/error.ts";
import { addReceiptHeaders, type NotedCall } from "./answer-headers.ts";

/** An error of a call that has a receipt. */
export class RelayError extends Error {
  readonly error: GatewayError;
  /** What the headers of an answer would have said of the call. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(error: GatewayError, call: NotedCall) {
    super(error.message, { cause: error });
    this.error = error;
    this.headers = addReceiptHeaders({}, call);
  }
}
