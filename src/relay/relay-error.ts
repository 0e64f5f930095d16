import type { GatewayError } from "../canon/error.ts";

/** An error of a call that has a receipt. */
export class RelayError extends Error {
  readonly error: GatewayError;
  readonly receiptId: string;

  constructor(error: GatewayError, receiptId: string) {
    super(error.message, { cause: error });
    this.error = error;
    this.receiptId = receiptId;
  }
}
