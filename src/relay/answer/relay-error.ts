import type { GatewayError } from "../../canon/error.ts";
import type { CallCapture } from "../../capture/call-capture.ts";
import { addReceiptHeaders, type NotedCall } from "./answer-headers.ts";

/** An error of a call that has a receipt. */
export class RelayError extends Error {
  readonly error: GatewayError;
  /** What the headers of an answer would have said of the call. */
  readonly headers: Readonly<Record<string, string>>;

  /** What is to see the answer. */
  readonly capture: CallCapture | undefined;

  constructor(error: GatewayError, call: NotedCall & { capture?: CallCapture | undefined }) {
    super(error.message, { cause: error });
    this.capture = call.capture;
    this.error = error;
    this.headers = addReceiptHeaders({}, call);
  }
}
