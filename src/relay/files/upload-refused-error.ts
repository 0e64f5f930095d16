import { type ErrorRule, GatewayError } from "../../canon/error.ts";

/** A provider refuses a file. It would refuse it again, but another provider may accept it. The model is not at fault. */
export class UploadRefusedError extends GatewayError {
  override get rule(): ErrorRule {
    return { ...super.rule, retrySameOffer: false };
  }
}
