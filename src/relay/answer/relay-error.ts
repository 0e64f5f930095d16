import type { GatewayError } from "../../canon/error.ts";
import type { CallCapture } from "../../capture/call-capture.ts";
import { addReceiptHeaders, type NotedCall } from "./answer-headers.ts";

/** An error of a call that has a receipt. */
export class RelayError extends Error {
  readonly error: GatewayError;
  /** The headers that a response to this call would have had. */
  readonly headers: Readonly<Record<string, string>>;

  /** Captures the response, if bodies are captured. */
  readonly capture: CallCapture | undefined;

  constructor(error: GatewayError, call: NotedCall & { capture?: CallCapture | undefined }) {
    super(error.message, { cause: error });
    this.capture = call.capture;
    this.error = error;
    this.headers = addReceiptHeaders({}, call);
  }
}
